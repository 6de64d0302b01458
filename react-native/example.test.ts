/**
 * The example app's web build runs against a service, reports what was watched, and loses nothing
 * while offline.
 */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { type Page } from 'playwright-core';
import { type LoggedEvent } from '../server/src/features/events/events.ts';
import { startPlayerPages } from '../server/test/player/player.ts';
import { addImage, createCarousel } from '../server/test/carousels.ts';
import { eventually, temporaryFolder } from '../server/test/service.ts';
import { openStoredEvents } from '../server/test/stored-events.ts';
import { runInExample, serveApp, whyNotInstalled } from './example.fixture.ts';

const { options: browserOptions, pages } =
  whyNotInstalled === null
    ? await startPlayerPages()
    : { options: { skip: whyNotInstalled }, pages: null };
const options = 'skip' in browserOptions ? browserOptions : { timeout: 300_000 };
const nothing = { appUrl: '', long: '', short: '', carousel: '' };
const isRun = !('skip' in options);
const stored = isRun && pages !== null ? await openStoredEvents(pages.service) : null;
const { appUrl, long, short, carousel } = isRun ? await prepare() : nothing;

/** Three items in a known order, and the app that shows them. */
async function prepare(): Promise<typeof nothing> {
  assert(pages !== null);
  const { service } = pages;
  const long = await pages.upload('landscape.mp4', 'Five seconds');
  const short = await pages.upload('portrait.mp4', 'Two seconds');
  const carousel: string = (await createCarousel(service, 'carousel', { title: 'Pictures' })).id;
  await addImage(service, carousel, { altText: 'A red field' });
  await addImage(service, carousel, { altText: 'A blue field', color: '#3030d0' });
  const folder = await temporaryFolder();
  await runInExample('expo', ['export', '-p', 'web', '--output-dir', folder]);
  for (const [position, contentId] of [long, short, carousel].entries()) {
    await pages.ready(contentId);
    await service.call('PATCH', `/v1/content/${contentId}`, {
      body: { publishStatus: 'published' },
    });
    const body = { type: 'pin', match: { contentId }, position };
    const { status, text } = await service.call('POST', '/v1/ranking/rules', { body });
    assert.equal(status, 201, text);
  }
  const address = new URLSearchParams({ service: service.url, key: service.publishableKey });
  return { appUrl: `${await serveApp(folder)}/?${address}`, long, short, carousel };
}

/** Waits until `isAll` holds, and returns the events stored since the last call. */
async function arrived(isAll: (events: LoggedEvent[]) => boolean): Promise<LoggedEvent[]> {
  assert(stored !== null);
  const events: LoggedEvent[] = [];
  return eventually('the events to be stored', async () => {
    events.push(...(await stored.fresh()));
    return isAll(events) ? events : null;
  });
}

/** Opens the app in its own browser profile. */
async function openApp(context: Parameters<NonNullable<typeof pages>['visit']>[0]): Promise<Page> {
  assert(pages !== null);
  const { page } = await pages.visit(context, '');
  await page.goto(appUrl);
  return page;
}

/** Waits until the clip has played to a position, in seconds. */
async function playedTo(page: Page, id: string, seconds: number): Promise<void> {
  await page.waitForFunction(
    ({ id, seconds }) => {
      const video = document.querySelector<HTMLVideoElement>(`[data-testid="slide-${id}"] video`);
      return video !== null && !video.paused && video.currentTime >= seconds;
    },
    { id, seconds },
  );
}

const inSlide = (page: Page, id: string, name: string) =>
  page.getByTestId(`slide-${id}`).getByRole('switch', { name });

test('views, likes and exits in the app are counted correctly', options, async (context) => {
  assert(pages !== null);
  const page = await openApp(context);
  const startedAtMs = performance.now();
  await playedTo(page, long, 2);
  await inSlide(page, long, 'Applaud').click();
  await page.getByRole('button', { name: 'Next' }).click();
  // Longer than the clip, so it loops.
  await playedTo(page, short, 1.5);
  await page.waitForFunction((id) => {
    const video = document.querySelector<HTMLVideoElement>(`[data-testid="slide-${id}"] video`);
    return video !== null && video.currentTime < 1 && video.currentTime > 0.3;
  }, short);
  await page.getByRole('button', { name: 'Next' }).click();
  await page.locator(`[data-testid="slide-${carousel}"]:not([aria-hidden="true"])`).waitFor();
  assert.equal(await page.getByAltText('A red field').count(), 1);
  const watchedSeconds = (performance.now() - startedAtMs) / 1_000;
  const events = await arrived((all) => {
    const last = all.find(
      ({ event, contentId }) => event === 'impression' && contentId === carousel,
    );
    return last !== undefined;
  });
  const kindsOf = (id: string) =>
    events
      .flatMap(({ event, contentId }) => (contentId === id ? [event] : []))
      .filter((event, index, all) => event !== 'watchProgress' || all[index - 1] !== event);
  assert.deepEqual(kindsOf(long), ['impression', 'playStart', 'like', 'watchProgress']);
  assert.deepEqual(kindsOf(short), [
    'swipe',
    'impression',
    'playStart',
    'watchProgress',
    'completion',
    'watchProgress',
  ]);
  assert.deepEqual(kindsOf(carousel), ['swipe', 'impression']);
  const devices = events.map(({ deviceId, sessionId }) => `${deviceId} ${sessionId}`);
  assert.equal(new Set(devices).size, 1);
  assert.equal(new Set(events.map(({ data }) => data['viewId'])).size, 3);
  const summaryOf = async (id: string) =>
    (await pages.service.call('GET', `/v1/analytics/content/${id}`)).body.data.summary;
  const second = await eventually('the statistics', async () => {
    const found = await summaryOf(short);
    return found.completions === 1 ? found : null;
  });
  assert.deepEqual([second.impressions, second.plays], [1, 1]);
  const first = await summaryOf(long);
  assert.deepEqual([first.impressions, first.plays, first.completions], [1, 1, 0]);
  assert.equal(first.likes, 1);
  assert(first.totalWatchTime >= 1.8, `${first.totalWatchTime} s`);
  assert(second.totalWatchTime >= 1.8, `${second.totalWatchTime} s`);
  const total = first.totalWatchTime + second.totalWatchTime;
  assert(total <= watchedSeconds, `${total} s of ${watchedSeconds} s`);
});

test(
  'without a connection events wait on the device, and count once later',
  options,
  async (context) => {
    const page = await openApp(context);
    await playedTo(page, long, 0.5);
    await page.getByRole('button', { name: 'Send' }).click();
    await arrived((all) => all.some(({ event }) => event === 'playStart'));
    await page.route('**/v1/events/batch*', (route) => route.abort());
    await inSlide(page, long, 'Applaud').click();
    await inSlide(page, long, 'Save').click();
    const kept = () => page.evaluate(() => localStorage.getItem('reelfeed.events') ?? '');
    await page.waitForFunction(() => localStorage.getItem('reelfeed.events')?.includes('"save"'));
    assert.match(await kept(), /"event":"like"/);
    // The app ends and restarts, still offline.
    await page.reload();
    await playedTo(page, long, 0.2);
    assert.match(await kept(), /"event":"like"/);
    assert.equal(
      await inSlide(page, long, 'Applaud').getAttribute('aria-checked'),
      'true',
      'the like is remembered',
    );
    await page.unroute('**/v1/events/batch*');
    await page.getByRole('button', { name: 'Send' }).click();
    const events = await arrived((all) => all.some(({ event }) => event === 'playStart'));
    await eventually('nothing to wait', async () => ((await kept()) === '' ? true : null));
    for (const kind of ['like', 'save', 'playStart']) {
      assert.equal(events.filter(({ event }) => event === kind).length, 1, kind);
    }
    assert.equal(new Set(events.map(({ eventId }) => eventId)).size, events.length);
    assert.equal(new Set(events.map(({ deviceId }) => deviceId)).size, 1);
  },
);

test(
  'an empty feed and a refused key are said, and the feed goes on afterwards',
  options,
  async (context) => {
    assert(pages !== null);
    const page = await openApp(context);
    await playedTo(page, long, 0.2);
    await page.route('**/v1/feed?*', (route) =>
      route.fulfill({
        json: { data: [], meta: { requestId: 'req_1', nextCursor: null, hasMore: false } },
      }),
    );
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByText('Nothing to watch yet').waitFor();
    await page.unroute('**/v1/feed?*');
    await page.route('**/v1/feed?*', (route) =>
      route.fulfill({
        status: 401,
        json: { error: { code: 'KEY_REVOKED', message: 'The key was revoked.' } },
      }),
    );
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('The key was revoked.').waitFor();
    await page.unroute('**/v1/feed?*');
    await page.getByRole('button', { name: 'Try again' }).click();
    await playedTo(page, long, 0.2);
  },
);
