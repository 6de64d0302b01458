/** On a slow connection, a first visit shows a picture early and loads nothing else before it. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { type Page } from 'playwright-core';
import { eventually } from '../../../test/service.ts';
import { playing, startPlayerPages } from '../../../test/player/player.ts';

const { options, pages } = await startPlayerPages();
if (!('skip' in options)) {
  const files = ['portrait.mp4', 'landscape.mp4', 'portrait.mp4'] as const;
  const ids = await Promise.all(files.map((file, index) => pages.upload(file, `Clip ${index}`)));
  for (const id of ids) await pages.ready(id);
  // An item plays as soon as its first rendition exists; the small ones come later.
  await eventually('all renditions', async () => {
    const { body } = await pages.service.call('GET', '/v1/content');
    const texts = body.data.map(async (item: { streamingUrl: string }) =>
      (await fetch(item.streamingUrl)).text(),
    );
    const masters: string[] = await Promise.all(texts);
    return masters.every((text) => text.includes('240/index.m3u8')) ? true : null;
  });
}

/** Slow 4G as defined by browser developer tools. */
const slow4g = {
  offline: false,
  latency: 150,
  downloadThroughput: 1_600_000 / 8,
  uploadThroughput: 750_000 / 8,
};
const maxBytes = 250_000;

/** Received bytes and the file they belong to. */
type Arrival = { readonly path: string; readonly bytes: number; readonly atMs: number };
/** A requested file. */
type Asked = { readonly path: string; readonly atMs: number };

/** Throttles a page's connection, clears its cache, and records what arrives. */
async function watchLine(page: Page): Promise<{ asked: Asked[]; arrivals: Arrival[] }> {
  const line = await page.context().newCDPSession(page);
  await line.send('Network.enable');
  await line.send('Network.clearBrowserCache');
  await line.send('Network.emulateNetworkConditions', slow4g);
  const asked: Asked[] = [];
  const arrivals: Arrival[] = [];
  const paths = new Map<string, string>();
  line.on('Network.requestWillBeSent', ({ requestId, request, wallTime }) => {
    const { protocol, pathname } = new URL(request.url);
    if (!protocol.startsWith('http')) return;
    paths.set(requestId, pathname);
    asked.push({ path: pathname, atMs: wallTime * 1_000 });
  });
  line.on('Network.dataReceived', ({ requestId, encodedDataLength }) => {
    const path = paths.get(requestId) ?? '';
    arrivals.push({ path, bytes: encodedDataLength, atMs: Date.now() });
  });
  return { asked, arrivals };
}

/** Records in the page when the first picture of a clip is shown. */
function noteFirstPicture(): void {
  const look = (): void => {
    const root = document.querySelector('reelfeed-feed')?.shadowRoot;
    const video = root?.querySelector('.slide:not([inert]) video');
    const isShown = video instanceof HTMLVideoElement && !video.paused && video.currentTime > 0;
    if (isShown) Reflect.set(window, 'shownMs', performance.now());
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}

/**
 * Opens the feed over the slow connection. Returns what had arrived when the first picture was
 * shown.
 */
async function visitSlowly(page: Page) {
  const { asked, arrivals } = await watchLine(page);
  await page.goto(`${pages.service.url}/feed${pages.withKey}`);
  await page.waitForFunction(() => Reflect.get(window, 'shownMs') !== undefined);
  const [originMs, shownMs] = await page.evaluate(() => [
    performance.timeOrigin,
    Number(Reflect.get(window, 'shownMs')),
  ]);
  assert(originMs !== undefined && shownMs !== undefined);
  const isBefore = ({ atMs }: { readonly atMs: number }) => atMs <= originMs + shownMs;
  const bytes = arrivals.filter(isBefore).reduce((sum, one) => sum + one.bytes, 0);
  return { bytes, shownMs, paths: asked.filter(isBefore).map(({ path }) => path), arrivals };
}

test(
  'over slow 4G the first picture takes at most 250 kB, and slide 2 waits for it',
  options,
  async (context) => {
    const { page, errors } = await pages.visit(context, '');
    await page.goto('about:blank');
    await page.addInitScript(noteFirstPicture);
    const { bytes, shownMs, paths, arrivals } = await visitSlowly(page);
    context.diagnostic(`${bytes} bytes, ${Math.round(shownMs)} ms`);
    const byFile = Map.groupBy(arrivals, ({ path }) => path);
    for (const path of paths)
      context.diagnostic(
        `${(byFile.get(path) ?? []).reduce((sum, one) => sum + one.bytes, 0)} ${path}`,
      );
    const folders = paths.flatMap((path) => /^\/media\/([^/]+)\//.exec(path)?.[1] ?? []);
    assert.equal(new Set(folders).size, 1, paths.join('\n'));
    assert.ok(bytes <= maxBytes, `${bytes} bytes`);
    const first = await playing(page);
    await page.keyboard.press('j');
    await playing(page, first);
    assert.deepEqual(errors, []);
  },
);
