/** Watching on the page is counted, even if the viewer closes or leaves the page. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { type Page } from 'playwright-core';
import { eventually } from '../../../test/service.ts';
import { openStoredEvents } from '../../../test/stored-events.ts';
import { type LoggedEvent } from '../events/events.ts';
import { playing, startPlayerPages } from '../../../test/player/player.ts';

const { options, pages } = await startPlayerPages();
const hasBrowser = !('skip' in options);
const stored = hasBrowser ? await openStoredEvents(pages.service) : null;
const [short, long] = hasBrowser ? await uploadClips() : ['', ''];

async function uploadClips(): Promise<[short: string, long: string]> {
  const shortClip = await pages.upload('portrait.mp4', 'Two seconds');
  const longClip = await pages.upload('landscape.mp4', 'Five seconds');
  for (const id of [shortClip, longClip]) await pages.ready(id);
  // The order of two unwatched clips is unspecified, but these tests need a fixed one.
  await pages.service.call('POST', '/v1/ranking/rules', {
    body: { type: 'pin', match: { contentId: longClip }, position: 0 },
  });
  return [shortClip, longClip];
}

/** The events stored since the last call, once `isAll` holds. */
async function arrived(isAll: (events: LoggedEvent[]) => boolean): Promise<LoggedEvent[]> {
  assert(stored !== null);
  const events: LoggedEvent[] = [];
  return eventually('the events to be stored', async () => {
    events.push(...(await stored.fresh()));
    return isAll(events) ? events : null;
  });
}

function has(kind: string): (events: LoggedEvent[]) => boolean {
  return (events) => events.some(({ event }) => event === kind);
}

function likesShown(page: Page, id: string): Promise<string> {
  return page.locator(`#slide-${id} .like span`).innerText();
}

async function watchFor(page: Page, seconds: number): Promise<void> {
  await page.waitForFunction((until) => {
    const root = document.querySelector('reelfeed-feed')?.shadowRoot;
    const video = root?.querySelector<HTMLVideoElement>('.slide:not([inert]) video');
    return video != null && video.currentTime >= until;
  }, seconds);
}

test(
  'what is watched, liked, shared and left counts in the statistics',
  options,
  async (context) => {
    const { page, errors } = await pages.visit(context, pages.withKey, {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    const startedAtMs = performance.now();
    const slide = await playing(page);
    assert.equal(slide, `slide-${long}`);
    await watchFor(page, 2);
    await page.keyboard.press('l');
    await page.keyboard.press('s');
    await page.getByText('Link copied').waitFor();
    await page.keyboard.press('j');
    await playing(page, slide);
    // Longer than the clip, so it loops.
    await page.waitForTimeout(2_800);
    const watchedSeconds = (performance.now() - startedAtMs) / 1_000;
    await page.goto('about:blank');
    const events = await arrived((all) =>
      all.some(({ event, contentId, data }) => {
        const isLast = event === 'watchProgress' && contentId === short;
        return isLast && Number(data['watchTime']) > 2.2;
      }),
    );
    assert.deepEqual(errors, []);
    // Progress is sent every few seconds, so a slow machine sends it more often.
    const kindsOf = (id: string) =>
      events
        .flatMap(({ event, contentId }) => (contentId === id ? [event] : []))
        .filter((event, index, all) => event !== 'watchProgress' || all[index - 1] !== event);
    assert.deepEqual(kindsOf(long), ['impression', 'playStart', 'like', 'share', 'watchProgress']);
    assert.deepEqual(kindsOf(short), [
      'swipe',
      'impression',
      'playStart',
      'watchProgress',
      'completion',
      'watchProgress',
    ]);
    assert.equal(
      new Set(events.map(({ deviceId, sessionId }) => `${deviceId} ${sessionId}`)).size,
      1,
    );
    assert(events.every(({ deviceId, sessionId }) => deviceId && sessionId));
    assert.equal(new Set(events.map(({ data }) => data['viewId'])).size, 2);

    const report = async (id: string) =>
      (await pages.service.call('GET', `/v1/analytics/content/${id}`)).body.data.summary;
    const summary = await eventually('the statistics', async () => {
      const found = await report(short);
      return found.completions === 1 ? found : null;
    });
    assert.deepEqual([summary.impressions, summary.plays, summary.completionRate], [1, 1, 1]);
    const left = await report(long);
    assert.deepEqual([left.impressions, left.plays, left.completions], [1, 1, 0]);
    assert.deepEqual([left.likes, left.shares], [1, 1]);
    assert(left.totalWatchTime >= 1.9, `${left.totalWatchTime} s`);
    const total = left.totalWatchTime + summary.totalWatchTime;
    assert(total <= watchedSeconds, `${total} s of ${watchedSeconds} s`);
    const { body } = await pages.service.call('GET', '/v1/analytics/quality');
    assert(body.data.summary.startupTime.average >= 0);
    assert.equal(body.data.summary.exitsBeforeStart, 0);
    const feed = await pages.service.call('GET', '/v1/feed');
    const item = feed.body.data.find(({ id }: { id: string }) => id === long);
    assert.deepEqual([item.engagement.views, item.engagement.likes], [1, 1]);
    await page.goto(`${pages.service.url}/feed${pages.withKey}`);
    await playing(page);
    assert.equal(await likesShown(page, long), '1', 'the own like is counted once');
  },
);

test(
  'where requests cannot outlive the page, beacons carry what waits; a lost one is made up for',
  options,
  async (context) => {
    const { page } = await pages.visit(context, '');
    await page.addInitScript(() => Reflect.deleteProperty(Request.prototype, 'keepalive'));
    const requests: { type: string; body: string }[] = [];
    page.on('request', (request) => {
      requests.push({ type: request.resourceType(), body: request.postData() ?? '' });
    });
    await page.goto(`${pages.service.url}/feed${pages.withKey}`);
    const slide = await playing(page);
    await page.route('**/v1/events/batch?key=*', (route) => route.abort());
    const show = (state: 'hidden' | 'visible') =>
      page.evaluate((visibilityState) => {
        Object.defineProperty(document, 'visibilityState', {
          value: visibilityState,
          configurable: true,
        });
        document.dispatchEvent(new Event('visibilitychange'));
      }, state);
    await show('hidden');
    await eventually('a beacon', async () =>
      requests.some(({ type }) => type === 'ping') ? true : null,
    );
    await show('visible');
    await arrived(has('playStart'));
    await page.unroute('**/v1/events/batch?key=*');
    await page.keyboard.press('j');
    await playing(page, slide);
    await page.goto('about:blank');
    const events = await arrived(has('swipe'));
    assert(
      requests.every(({ body }) => !body.includes('"swipe"')),
      'not sent before the end',
    );
    assert.equal(new Set(events.map(({ eventId }) => eventId)).size, events.length);
  },
);

test(
  'what could not be sent is kept for the next visit, and counts once',
  options,
  async (context) => {
    const { page } = await pages.visit(context);
    await playing(page);
    await page.context().setOffline(true);
    await page.keyboard.press('l');
    await page.goto('about:blank');
    await page.context().setOffline(false);
    await page.goto(`${pages.service.url}/feed${pages.withKey}`);
    const kept = await page.evaluate(() =>
      Object.entries(localStorage)
        .filter(([name]) => name.startsWith('reelfeed.events.'))
        .map(([, text]) => String(text)),
    );
    const likes = await arrived(has('like'));
    assert.match(kept.join(), /"event":"like"/);
    assert.equal(likes.filter(({ event }) => event === 'like').length, 1);
  },
);

test('a clip that cannot be played is reported as an error, once', options, async (context) => {
  const { page } = await pages.visit(context, '');
  await page.route('**/*.m3u8', (route) => route.abort());
  await page.goto(`${pages.service.url}/feed${pages.withKey}`);
  await page.getByText('This video can’t be played').first().waitFor();
  await page.goto('about:blank');
  const events = await arrived(has('error'));
  const failures = events.filter(({ event }) => event === 'error');
  assert.equal(new Set(failures.map(({ contentId }) => contentId)).size, failures.length);
  assert.equal(failures[0]?.data['errorCode'], 'manifestLoadError');
});
