/** Runs the event sender in a real browser, loaded from the service into its own page. */
// oxlint-disable no-restricted-globals -- the page waits for what must not happen
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { type Page } from 'playwright-core';
import { startPlayerPages } from '../../server/test/player/player.ts';
import { createItem } from '../../server/test/seed.ts';
import { openStoredEvents } from '../../server/test/stored-events.ts';
import { bundleClient } from './bundle.fixture.ts';

const { options, pages } = await startPlayerPages();
const hasBrowser = !('skip' in options);
const stored = hasBrowser ? await openStoredEvents(pages.service) : null;
const contentId: string = hasBrowser ? (await createItem(pages.service)).id : '';
const bundled = hasBrowser ? await bundleClient() : '';

type Setting = {
  /** The URL of the library in the browser. */
  readonly library: string;
  readonly baseUrl: string;
  readonly publishableKey: string;
  readonly contentId: string;
};

/**
 * A page on the service's origin that `window.show` hides and shows, with the settings of a sender.
 */
async function openPage(context: TestContext): Promise<{ page: Page; setting: Setting }> {
  const { page } = await pages.visit(context, '');
  const { url: baseUrl, publishableKey } = pages.service;
  const library = `${baseUrl}/client.js`;
  await page.route(library, (route) =>
    route.fulfill({ contentType: 'text/javascript', body: bundled }),
  );
  await page.route(`${baseUrl}/empty`, (route) =>
    route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>Empty</title>' }),
  );
  await page.goto(`${baseUrl}/empty`);
  await page.evaluate(() => {
    Object.assign(window, {
      show: (value: DocumentVisibilityState) => {
        Object.defineProperty(document, 'visibilityState', { value, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
      },
    });
  });
  return { page, setting: { library, baseUrl, publishableKey, contentId } };
}

test(
  'a hidden page sends waiting events immediately and once, and continues',
  options,
  async (context) => {
    const { page, setting } = await openPage(context);
    const bodies: (string | null)[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/v1/events/batch')) bodies.push(request.postData());
    });
    const counts = await page.evaluate(async ({ library, contentId: id, ...service }) => {
      const { EventSender } = await import(library);
      const sender = new EventSender({ ...service, batchInterval: 200 });
      const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
      sender.track({ event: 'like', contentId: id });
      Reflect.get(window, 'show')('hidden');
      // Longer than the interval after which the event would have been sent anyway.
      await wait(600);
      const hidden = sender.counts;
      Reflect.get(window, 'show')('visible');
      sender.track({ event: 'save', contentId: id });
      await sender.flush();
      return [hidden, sender.counts];
    }, setting);
    assert.deepEqual(counts, [
      { waiting: 0, received: 1, refused: 0, dropped: 0 },
      { waiting: 0, received: 2, refused: 0, dropped: 0 },
    ]);
    assert.equal(bodies.length, 2, bodies.join());
    assert.deepEqual(
      (await stored?.fresh())?.map(({ event }) => event),
      ['like', 'save'],
    );
  },
);

test(
  'events accepted by a beacon are not sent again before the page is shown',
  options,
  async (context) => {
    const { page, setting } = await openPage(context);
    const bodies: (string | null)[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/v1/events/batch')) bodies.push(request.postData());
    });
    const counts = await page.evaluate(async ({ library, contentId: id, ...service }) => {
      Reflect.deleteProperty(Request.prototype, 'keepalive');
      const { EventSender } = await import(library);
      const sender = new EventSender({ ...service, batchInterval: 200 });
      sender.track({ event: 'like', contentId: id });
      Reflect.get(window, 'show')('hidden');
      await new Promise((resolve) => setTimeout(resolve, 600));
      const hidden = sender.counts;
      Reflect.get(window, 'show')('visible');
      await sender.flush();
      return [hidden.waiting, sender.counts.received];
    }, setting);
    assert.deepEqual(counts, [1, 1]);
    assert.equal(bodies.length, 2, bodies.join());
    assert.match(bodies[1] ?? '', /"event":"like"/);
    assert.equal((await stored?.fresh())?.length, 1, 'both are one');
  },
);

test(
  'what the browser cannot take stays and is sent when the page is shown',
  options,
  async (context) => {
    const { page, setting } = await openPage(context);
    const counts = await page.evaluate(async ({ library, contentId: id, ...service }) => {
      const { EventSender } = await import(library);
      const sender = new EventSender({ ...service, batchSize: 1_000, retryDelayMs: 20 });
      // 40 events of about 4 kB are more than twice what a closing page may send.
      const data = { note: 'x'.repeat(4_000) };
      for (let count = 0; count < 40; count += 1)
        sender.track({ event: 'like', contentId: id, data });
      Reflect.get(window, 'show')('hidden');
      const left = sender.counts.waiting;
      Reflect.get(window, 'show')('visible');
      await sender.flush();
      return [left, sender.counts.received];
    }, setting);
    assert.deepEqual(counts, [40, 40], 'only an answer takes events off the list');
    assert.equal((await stored?.fresh())?.length, 40);
  },
);

test(
  'in a pause that the service asks for, a hidden page keeps events in its storage',
  options,
  async (context) => {
    const { page, setting } = await openPage(context);
    const headers = { 'retry-after': '1', 'access-control-allow-origin': '*' };
    let requests = 0;
    await page.route('**/v1/events/batch*', (route) => {
      requests += 1;
      return requests === 1 ? route.fulfill({ status: 503, headers }) : route.continue();
    });
    const kept = await page.evaluate(async ({ library, contentId: id, ...service }) => {
      const { EventSender, localEventStorage } = await import(library);
      const storage = localEventStorage('pausing');
      const sender = new EventSender({ ...service, storage, batchInterval: 10 });
      const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
      const eventId = sender.track({ event: 'like', contentId: id });
      await wait(300);
      Reflect.get(window, 'show')('hidden');
      await wait(300);
      const texts = Object.entries(localStorage).flatMap(([name, text]) =>
        name.startsWith('pausing.') ? [String(text)] : [],
      );
      const { waiting } = sender.counts;
      await sender.flush();
      return { waiting, isKept: texts.join().includes(eventId), received: sender.counts.received };
    }, setting);
    assert.deepEqual(kept, { waiting: 1, isKept: true, received: 1 });
    assert.equal(requests, 2, 'none within the pause');
    assert.equal((await stored?.fresh())?.length, 1);
  },
);

test(
  'pages that are open at the same time keep their events apart, and a new one takes over',
  options,
  async (context) => {
    const { page, setting } = await openPage(context);
    const found = await page.evaluate(async ({ library }) => {
      const { localEventStorage } = await import(library);
      const places = () => Object.keys(localStorage).filter((name) => name.startsWith('test.'));
      const first = localEventStorage('test');
      const second = localEventStorage('test');
      const nothing = first.load();
      first.save('a\nb');
      second.save('c');
      const apart = places().length;
      const third = localEventStorage('test');
      const taken = third.load().split('\n').toSorted();
      const after = places().length;
      third.save('');
      return { nothing, apart, taken, after, end: places().length };
    }, setting);
    assert.deepEqual(found, { nothing: null, apart: 2, taken: ['a', 'b', 'c'], after: 1, end: 0 });
  },
);

test(
  'a browser keeps the ids of its device, its visit and the user who has logged in',
  options,
  async (context) => {
    const { page, setting } = await openPage(context);
    const visit = (userId: string | null | undefined) =>
      page.evaluate(
        async ({ library, baseUrl, publishableKey, user }) => {
          const { EventSender } = await import(library);
          const sender = new EventSender({ baseUrl, publishableKey });
          const before = sender.viewer;
          if (user !== undefined) sender.identify(user);
          await sender.close();
          return { before, after: sender.viewer };
        },
        { ...setting, user: userId },
      );
    const first = await visit('ada');
    const { deviceId, sessionId, userId } = first.before;
    assert.equal(userId, undefined);
    assert.match(deviceId, /^[0-9a-f-]{36}$/);
    assert.match(sessionId, /^[0-9a-f-]{36}$/);
    assert.deepEqual(
      first.after,
      { userId: 'ada', deviceId, sessionId },
      'login continues with both',
    );
    const second = await visit(undefined);
    assert.deepEqual(second.before, first.after, 'the next page of the visit knows all three');
    const third = await visit(null);
    assert.deepEqual([third.after.userId, third.after.deviceId], [undefined, deviceId]);
    assert.notEqual(third.after.sessionId, sessionId, 'after the logout it is another session');
    assert.equal((await visit(undefined)).before.userId, undefined);
  },
);

test(
  'nothing is lost or counted twice through 100 reloads and a service that is away for a third of them',
  { ...options, timeout: 180_000 },
  async (context) => {
    const { page, setting } = await openPage(context);
    await stored?.fresh();
    const reloads = 100;
    const away = { from: 30, to: 65 };
    const tracked: string[] = [];
    for (let visit = 0; visit <= reloads; visit += 1) {
      if (visit === away.from) await page.route('**/v1/events/**', (route) => route.abort());
      if (visit === away.to) await page.unroute('**/v1/events/**');
      const id = await page.evaluate(
        async ({ library, contentId: item, baseUrl, publishableKey }) => {
          const { EventSender, localEventStorage } = await import(library);
          const service = { baseUrl, publishableKey, retryDelayMs: 20 };
          const sender = new EventSender({ ...service, storage: localEventStorage('test') });
          Object.assign(window, { sender });
          return sender.track({ event: 'share', contentId: item, data: { platform: 'test' } });
        },
        setting,
      );
      tracked.push(id);
      await page.reload();
    }
    await page.evaluate(async ({ library, baseUrl, publishableKey }) => {
      const { EventSender, localEventStorage } = await import(library);
      const storage = localEventStorage('test');
      await new EventSender({ baseUrl, publishableKey, storage }).flush();
    }, setting);
    const arrived = (await stored?.fresh())?.map(({ eventId }) => eventId) ?? [];
    assert.deepEqual(arrived.toSorted(), tracked.toSorted());
  },
);
