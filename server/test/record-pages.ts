/**
 * Takes the guides' screenshots of the console from a running `npm run demo` that has played for a
 * few minutes.
 *
 *   node server/test/record-pages.ts <link that signs in to the console>
 */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { launchBrowser } from './browser.ts';

const link = process.argv[2] ?? '';
const folder = fileURLToPath(new URL('../../docs/images/console/', import.meta.url));
const desk = { width: 1_440, height: 900 };
const phone = { width: 390, height: 844 };
const timeoutMs = 120_000;

/** The first row of a list that the console reads. */
const firstOf = (page: Page, list: string, name = 'id'): Promise<string> =>
  page.evaluate(
    async ([from, key]) => {
      const answer = await fetch(`../${from}`, { headers: { 'X-Reelfeed-Console': '1' } });
      const { data } = (await answer.json()) as { data: Record<string, string>[] };
      return data[0]?.[key] ?? '';
    },
    [list, name] as const,
  );

async function viewsOf(page: Page): Promise<Record<string, string>> {
  const item = await firstOf(page, 'v1/analytics/content?sort=plays&limit=1', 'contentId');
  return {
    overview: '/overview',
    breakdown: '/reports?report=breakdown&by=country&and=device',
    audience: '/reports?report=audience',
    library: '/content',
    item: `/content/${item}`,
    calendar: '/content/calendar',
    live: '/live',
    feed: '/feed?tab=weights',
    experiments: '/experiments',
    experiment: `/experiments/${await firstOf(page, 'v1/experiments?limit=1')}`,
    webhook: `/webhooks/${await firstOf(page, 'v1/webhooks?limit=1')}`,
    webhooks: '/webhooks',
    alerts: '/alerts',
    exports: '/exports',
    settings: '/settings',
    keys: '/keys',
    audit: '/audit',
    system: '/system',
  };
}

/** Opens a view and waits until nothing is loading. */
async function openView(page: Page, view: string): Promise<void> {
  await page.evaluate((hash) => {
    location.hash = hash;
  }, view);
  await page.locator('main h1').waitFor();
  await page.waitForFunction(() => document.querySelector('[aria-busy=true]') === null);
  await page.waitForLoadState('networkidle', { timeout: 5_000 }).catch(() => undefined);
}

async function take(page: Page, name: string): Promise<void> {
  const shot = await page.screenshot({ timeout: timeoutMs });
  await sharp(shot)
    .resize({ width: 1_000, withoutEnlargement: true })
    .webp({ quality: 70, effort: 6 })
    .toFile(path.join(folder, `${name}.webp`));
}

const { browser, reason } = await launchBrowser();
if (browser === null) throw new Error(reason);
try {
  await mkdir(folder, { recursive: true });
  const page = await browser.newPage({
    viewport: desk,
    reducedMotion: 'reduce',
    colorScheme: 'light',
    locale: 'en-US',
  });
  page.setDefaultTimeout(timeoutMs);
  await page.goto(link);
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  for (const [name, view] of Object.entries(await viewsOf(page))) {
    await openView(page, view);
    await take(page, name);
  }
  await openView(page, '/overview');
  await page.emulateMedia({ colorScheme: 'dark' });
  await take(page, 'overview-dark');
  await page.setViewportSize(phone);
  await take(page, 'overview-phone');
} finally {
  await browser.close();
}
