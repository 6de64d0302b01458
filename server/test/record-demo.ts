/**
 * Records the README's animation from a running `npm run demo`: the feed beside the console.
 *
 *   node server/test/record-demo.ts <link of the feed page> <link that signs in to the console>
 */
import { fileURLToPath } from 'node:url';
import type { Browser, Page, ViewportSize } from 'playwright-core';
import sharp from 'sharp';
import { launchBrowser } from './browser.ts';

const [feedUrl = '', consoleUrl = ''] = process.argv.slice(2);
const target = fileURLToPath(new URL('../../docs/images/demo.webp', import.meta.url));
const openPage = async (browser: Browser, url: string, viewport: ViewportSize): Promise<Page> => {
  const page = await browser.newPage({ viewport, colorScheme: 'light', locale: 'en-US' });
  await page.goto(url);
  return page;
};
const [height, phone, desk] = [600, 338, 900];
const frames = 36;
const delayMs = 250;

const { browser, reason } = await launchBrowser();
if (browser === null) throw new Error(reason);
try {
  const feed = await openPage(browser, feedUrl, { width: phone, height });
  const desktop = await openPage(browser, consoleUrl, { width: 1350, height: 900 });
  await desktop.waitForTimeout(6_000);
  const views = ['#/overview', '#/content', '#/experiments', '#/webhooks'];
  // A broadcast comes first, and a test picture is unattractive.
  await feed.keyboard.press('ArrowDown');
  await feed.waitForTimeout(1_000);
  const shots: Buffer[] = [];
  for (let frame = 0; frame < frames; frame += 1) {
    if (frame % 9 === 8) await feed.keyboard.press('ArrowDown');
    const view = views[Math.floor(frame / 9)];
    if (frame % 9 === 0 && frame > 0) await desktop.evaluate(`location.hash = '${view}'`);
    const [left, right] = await Promise.all([
      feed.screenshot(),
      desktop.screenshot().then((shot) => sharp(shot).resize(desk, height).toBuffer()),
    ]);
    const ground = {
      width: phone + desk + 24,
      height,
      channels: 3,
      background: '#e9e9ef',
    } as const;
    shots.push(
      await sharp({ create: ground })
        .composite([
          { input: left, left: 0, top: 0 },
          { input: right, left: phone + 24, top: 0 },
        ])
        .png()
        .toBuffer(),
    );
    await feed.waitForTimeout(100);
  }
  await sharp(shots, { join: { animated: true } })
    .webp({ quality: 60, effort: 4, delay: shots.map(() => delayMs), loop: 0 })
    .toFile(target);
} finally {
  await browser.close();
}
