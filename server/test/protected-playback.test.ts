/**
 * Proves protected items: nothing derived from public responses grants access without a token, and
 * a browser plays one completely with a token, but not beyond the token's expiry.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { launchBrowser } from './browser.ts';
import { addImage, createCarousel } from './carousels.ts';
import { atEnd } from './database.ts';
import { fetchAll, form, local, readyItem } from './media.ts';
import { eventually, startService } from './service.ts';
import { untilAfter } from './waiting.ts';

const service = await startService({});
const item = await readyItem(service, 'portrait.mp4', { protected: true });
const captions = await service.call('POST', `/v1/content/${item.id}/captions`, {
  body: form([
    ['language', 'en'],
    ['file', Buffer.from('WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n')],
  ]),
});
assert.equal(captions.status, 201, captions.text);
const carousel = await createCarousel(service, 'carousel', { protected: true });
await addImage(service, carousel.id);

const token = async (id: string) =>
  (await service.call('POST', `/v1/content/${id}/playback-token`, { key: service.publishableKey }))
    .body.data;

/** All URLs anywhere in a response. */
function urlsIn(answer: unknown): string[] {
  return [...JSON.stringify(answer).matchAll(/https?:\/\/[^"\\]+\/media\/[^"\\]+/g)].map(String);
}

const statusOf = async (url: string, method = 'GET') =>
  (await fetch(local(service, url), { method, redirect: 'manual' })).status;

test('no path derived from public responses opens a protected item without a token', async () => {
  await eventually(
    'preview and storyboard',
    async () => ((await token(item.id)).storyboardUrl === null ? null : true),
    120_000,
  );
  const [signed, images] = [await token(item.id), await token(carousel.id)];
  const files = await fetchAll(service, signed.streamingUrl);
  const storyboard = await (await fetch(local(service, signed.storyboardUrl))).text();
  const sheets = [...new Set(storyboard.match(/^[\w.-]+(?=#xywh)/gm))];
  assert.ok(sheets.length > 0);
  const open = [
    ...files.map(({ url }) => url),
    ...urlsIn(signed),
    ...urlsIn(images),
    ...sheets.map((name) => new URL(name, signed.storyboardUrl).href),
  ];
  const names = new Set(open.map((url) => url.slice(url.lastIndexOf('/') + 1)));
  for (const name of [
    'master.m3u8',
    'thumbnail.jpg',
    'captions.vtt',
    'subtitles.m3u8',
    'large.jpg',
    'small.jpg',
  ]) {
    assert.ok(names.has(name), `${name} is among them`);
  }
  for (const kind of ['m4s', 'mp4', 'webp', 'vtt']) {
    assert.ok(
      [...names].some((name) => name.endsWith(`.${kind}`)),
      kind,
    );
  }
  assert.ok(open.length > 15, `${open.length} files`);

  // The data that a viewer sees without requesting a token: the feed and its items.
  const key = service.publishableKey;
  const feed = await service.call('GET', '/v1/feed?limit=50', { key });
  assert.equal(feed.body.data.length, 2);
  const shown = await Promise.all(
    [item.id, carousel.id].map((id) => service.call('GET', `/v1/content/${id}`)),
  );
  assert.deepEqual(urlsIn([feed.body, shown.map(({ body }) => body)]), [], 'no address of a file');

  const playbackId = (url: string) => new URL(url).pathname.split('/')[4] ?? '';
  for (const url of open) {
    assert.equal(await statusOf(url), 200, url);
    const bare = url.replace(/\/t\/[^/]+/, '');
    const guesses = [
      bare,
      url.replace(/\/t\/[^/]+/, '/t/x'),
      // Ids from public responses in place of the random one.
      ...[item.id, carousel.id].map((id) => bare.replace(playbackId(url), id)),
    ];
    for (const guess of guesses) {
      for (const method of ['GET', 'HEAD']) {
        const status = await statusOf(guess, method);
        assert.ok(status === 403 || status === 404, `${status}: ${method} ${guess}`);
      }
    }
  }
});

const { browser, reason } = await launchBrowser();
atEnd(async () => browser?.close());

test(
  'a browser plays it to the end with a token, and gets 403 once the token has expired',
  { skip: reason ?? false, timeout: 180_000 },
  async () => {
    assert.ok(browser !== null);
    const page = await browser.newPage();
    const answers: { url: string; status: number }[] = [];
    page.on('response', (response) => {
      const url = response.url();
      if (url.includes('/media/')) answers.push({ url, status: response.status() });
    });
    await service.call('DELETE', `/v1/content/${carousel.id}`);
    await page.goto(`${service.url}/feed?key=${service.publishableKey}`);
    // The player loops, so the time falls after coming close to the duration.
    await page.waitForFunction(
      () => {
        const root = document.querySelector('reelfeed-feed')?.shadowRoot;
        const video = root?.querySelector('.slide:not([inert]) video');
        if (!(video instanceof HTMLVideoElement) || !(video.duration > 0)) return false;
        const seen = window as { lastSeconds?: number };
        const isOver = video.ended || video.currentTime < (seen.lastSeconds ?? 0) - 0.5;
        seen.lastSeconds = video.currentTime;
        return isOver && !video.error;
      },
      undefined,
      { timeout: 120_000, polling: 50 },
    );
    assert.ok(answers.some(({ url }) => url.endsWith('.m4s')));
    assert.ok(
      answers.every(({ url }) => url.includes('/media/t/')),
      'each with the token',
    );
    assert.deepEqual(
      answers.filter(({ status }) => status >= 400),
      [],
    );

    // A token expires with its item, so an item that expires soon yields a short-lived one.
    const expiresAt = new Date(Date.now() + 3_000);
    await service.call('PATCH', `/v1/content/${item.id}`, { body: { expiresAt } });
    const signed = await token(item.id);
    assert.equal(signed.expiresAt, expiresAt.toISOString());
    const inPage = (url: string) =>
      page.evaluate(
        async (address) => (await fetch(address, { cache: 'no-store' })).status,
        local(service, url),
      );
    const segment = (await fetchAll(service, signed.streamingUrl)).at(-1)?.url ?? '';
    assert.equal(await inPage(segment), 200);
    await untilAfter(expiresAt);
    assert.equal(await inPage(segment), 403, 'in the middle of playing');
    assert.equal(await inPage(signed.streamingUrl), 403);
    await page.close();
  },
);
