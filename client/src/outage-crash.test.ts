/**
 * Proves that an app's page loses no event while the service is killed and down, through reloads
 * and with two tabs open, and that each event counts once. `npm run test:faults` keeps the service
 * down for a minute.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { launchBrowser } from '../../server/test/browser.ts';
import { atEnd, cloneDatabase } from '../../server/test/database.ts';
import { startProcess } from '../../server/test/processes.ts';
import { scaled } from '../../server/test/scale.ts';
import { eventually, send, temporaryFolder } from '../../server/test/service.ts';
import { openStoredEvents } from '../../server/test/stored-events.ts';
import { generateKey } from '../../server/src/features/keys/key-format.ts';
import { bundleClient } from './bundle.fixture.ts';
import { pause } from '../../server/test/waiting.ts';

const awayMs = scaled(3_000, 60_000);
const { browser, reason } = await launchBrowser();
const options = browser === null ? { skip: reason } : { timeout: 240_000 };
if (browser !== null) atEnd(() => browser.close());

const connection = await cloneDatabase();
const dataDir = await temporaryFolder();
const keys = {
  REELFEED_SECRET_KEY: generateKey('secret'),
  REELFEED_PUBLISHABLE_KEY: generateKey('publishable'),
};
const startService = (port = '0') =>
  startProcess(connection, dataDir, {
    ...keys,
    PORT: port,
    // The test browser identifies itself as a bot.
    REELFEED_BOT_EVENTS: 'count',
    REELFEED_ROLES: 'api,worker',
  });

/** Serves the app, whose page has a sender as `sender`. It stays up while the service is down. */
async function serveApp(serviceUrl: string): Promise<string> {
  const library = await bundleClient();
  const html = `<!doctype html><title>An app</title><script type="module">
    import { EventSender, localEventStorage } from './client.js';
    globalThis.sender = new EventSender({
      baseUrl: '${serviceUrl}',
      publishableKey: '${keys.REELFEED_PUBLISHABLE_KEY}',
      storage: localEventStorage('app'),
    });
  </script>`;
  const server = createServer((request, response) => {
    const isLibrary = request.url === '/client.js';
    response.setHeader('content-type', isLibrary ? 'text/javascript' : 'text/html');
    response.end(isLibrary ? library : html);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(async () => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

type AppWindow = {
  sender?: {
    track(event: object): string;
    flush(): Promise<void>;
    counts: { waiting: number; dropped: number; refused: number };
  };
};

/**
 * Shares the item this many times.
 *
 * @returns the ids of the events
 */
async function share(tab: Page, contentId: string, times: number): Promise<string[]> {
  await tab.waitForFunction(() => (globalThis as AppWindow).sender !== undefined);
  const event = { event: 'share', contentId, data: { platform: 'test' } };
  return tab.evaluate(
    ({ told, count }) =>
      Array.from({ length: count }, () => (globalThis as AppWindow).sender?.track(told) ?? ''),
    { told: event, count: times },
  );
}

async function untilSent(tab: Page): Promise<void> {
  await eventually(
    'every event to have its answer',
    async () => {
      const counts = await tab.evaluate(() => (globalThis as AppWindow).sender?.counts);
      assert.deepEqual([counts?.dropped, counts?.refused], [0, 0]);
      return counts?.waiting === 0 ? true : null;
    },
    90_000,
  );
}

test('nothing is lost or counted twice while the service is killed and away', options, async () => {
  assert(browser !== null);
  const first = await startService();
  const key = keys.REELFEED_SECRET_KEY;
  const stored = await openStoredEvents({ connection });
  const upload = { key, body: { title: 'Shared' } };
  const item = await send(`${first.url}/v1/content/upload`, 'POST', upload);
  const contentId: string = item.body.data.id;

  const app = await serveApp(first.url);
  const profile = await browser.newContext();
  const tabs = [await profile.newPage(), await profile.newPage()] as const;
  for (const tab of tabs) await tab.goto(app);
  const tracked: string[] = [];
  const shareInBoth = async (times: number) => {
    for (const tab of tabs) tracked.push(...(await share(tab, contentId, times)));
  };

  await shareInBoth(3);
  await Promise.all(tabs.map(untilSent));
  // These are in flight when the service is killed, so some may be stored but unacknowledged.
  await shareInBoth(40);
  await first.kill();
  const backAt = performance.now() + awayMs;
  for (let step = 0; performance.now() < backAt; step += 1) {
    await shareInBoth(1);
    await tabs[step % 2]?.reload();
    await pause(awayMs / 40, 'people share now and then');
  }
  await startService(new URL(first.url).port);
  await shareInBoth(1);
  await Promise.all(tabs.map(untilSent));

  const arrived = (await stored.all()).filter(({ event }) => event === 'share');
  assert.deepEqual(arrived.map(({ eventId }) => eventId).toSorted(), tracked.toSorted());
  await eventually('the report to count them', async () => {
    const report = await send(`${first.url}/v1/analytics/content/${contentId}`, 'GET', { key });
    const { shares } = report.body.data.summary;
    assert.ok(shares <= tracked.length, `${shares} of ${tracked.length} shares`);
    return shares === tracked.length ? true : null;
  });
});
