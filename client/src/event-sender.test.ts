/**
 * Proves that events reach the real service exactly once, no matter what happens to the requests.
 */
import assert from 'node:assert/strict';
import { type ServerResponse } from 'node:http';
import { test } from 'node:test';
import { dataRules } from '../../server/src/features/events/intake/event-rules.ts';
import { createOrganization } from '../../server/test/seed.ts';
import { eventually, startService } from '../../server/test/service.ts';
import { type EngagementEvent } from './client.ts';
import { startEventService } from './event-service.fixture.ts';
import { startRelay } from './relay.fixture.ts';
import { pause } from '../../server/test/waiting.ts';

const { service, stored, contentId, otherId, storedIds, startSender, like } =
  await startEventService();

function idsOf(body: string): string[] {
  const { events } = JSON.parse(body) as { events: { eventId: string }[] };
  return events.map(({ eventId }) => eventId);
}

test('each kind with all its fields is stored as it was tracked, when and by whom', async (context) => {
  const { sender, refused } = startSender(context, { userId: 'ada', country: 'DE', device: 'ios' });
  const events: EngagementEvent[] = [
    { event: 'impression', contentId, data: { position: 0, entryPoint: 'feed', feedId: 'fed_1' } },
    {
      event: 'playStart',
      contentId,
      data: { startupTime: 180, rendition: '720p', codec: 'avc1', autoplay: true },
    },
    {
      event: 'watchProgress',
      contentId,
      data: {
        currentTime: 3.5,
        duration: 15,
        percentComplete: 23.3,
        rendition: '720p',
        watchTime: 4,
      },
    },
    { event: 'completion', contentId, data: { watchTime: 15.2, looped: true, loopCount: 2 } },
    {
      event: 'swipe',
      contentId: otherId,
      data: { fromContentId: contentId, watchTimeOnFrom: 4.2, direction: 'up' },
    },
    { event: 'like', contentId },
    { event: 'unlike', contentId },
    { event: 'unsave', contentId },
    { event: 'share', contentId, data: { platform: 'messages' } },
    { event: 'save', contentId, data: { viewId: 'v1', shelf: 'later' } },
    { event: 'rebuffer', contentId, data: { duration: 400, currentTime: 3.5, rendition: '720p' } },
    { event: 'qualityChange', contentId, data: { fromQuality: '720p', toQuality: '1080p' } },
    { event: 'error', contentId, data: { errorCode: 'MEDIA_3', errorMessage: '' } },
    { event: 'notInterested', contentId, data: { scope: 'author', undo: true } },
    { event: 'report', contentId, data: { reason: 'spam', undo: false } },
  ];
  for (const { event, data = {} } of events) {
    for (const { name } of dataRules[event]) assert(name in data, `${event} has ${name}`);
  }
  assert.equal(new Set(events.map(({ event }) => event)).size, Object.keys(dataRules).length);
  const startedAt = Date.now();
  const ids = events.map((event) => sender.track(event));
  await sender.flush();
  const kept = await stored.fresh();
  assert.deepEqual(
    kept.map(({ eventId, event, data }) => ({ eventId, event, data })),
    events.map(({ event, data = {} }, index) => ({ eventId: ids[index], event, data })),
  );
  for (const { userId, sessionId, country, device, at } of kept) {
    assert.deepEqual([userId, sessionId, country, device], ['ada', 'session-1', 'DE', 'ios']);
    assert(at >= startedAt && at <= Date.now());
  }
  assert.deepEqual(refused, []);
  assert.deepEqual(sender.counts, { waiting: 0, received: events.length, refused: 0, dropped: 0 });
});

test('the viewer named in an event takes precedence over that of the sender', async (context) => {
  const { sender } = startSender(context, { userId: 'ada', deviceId: 'phone' });
  sender.track(like({ userId: 'bob' }));
  await sender.flush();
  const [kept] = await stored.fresh();
  assert.deepEqual([kept?.userId, kept?.deviceId], ['bob', 'phone']);
});

test('ten events are sent at once, fewer after the interval, many in bounded requests', async (context) => {
  const relay = await startRelay(service.url);
  const { sender } = startSender(context, { baseUrl: relay.url, batchInterval: 1_000 });
  const startedAtMs = performance.now();
  for (let count = 0; count < 10; count += 1) sender.track(like());
  await eventually('ten events', async () => (sender.counts.received === 10 ? true : null));
  assert.equal(relay.requests.length, 1);
  const sentAfterMs = (relay.requests[0]?.atMs ?? Infinity) - startedAtMs;
  assert(sentAfterMs < 900, `the interval was not waited for: ${sentAfterMs} ms`);
  const trackedAtMs = performance.now();
  sender.track(like());
  await eventually('one event', async () => (sender.counts.received === 11 ? true : null));
  const waitedMs = (relay.requests[1]?.atMs ?? 0) - trackedAtMs;
  assert(waitedMs >= 995, `sent after ${waitedMs} ms`);
  for (let count = 0; count < 250; count += 1) sender.track(like());
  for (let count = 0; count < 40; count += 1)
    sender.track(like({ data: { note: 'ü'.repeat(3_000) } }));
  await sender.flush();
  assert.equal(sender.counts.received, 301);
  const bodies = relay.requests.slice(2).map(({ body }) => body);
  assert.equal(idsOf(bodies[0] ?? '').length, 100);
  assert(bodies.every((body) => idsOf(body).length <= 100));
  assert(bodies.every((body) => Buffer.byteLength(body) < 64 * 1024));
  assert.equal(new Set(await storedIds()).size, 301);
});

test('a batch whose response is lost is sent again with the same ids, and counts once', async (context) => {
  const relay = await startRelay(service.url, (count) => (count <= 2 ? 'lose answer' : 'pass'));
  const { sender } = startSender(context, { baseUrl: relay.url });
  const ids = Array.from({ length: 5 }, () => sender.track(like()));
  await sender.flush();
  assert.deepEqual(
    relay.requests.map(({ body }) => idsOf(body)),
    [ids, ids, ids],
  );
  const events = relay.requests.map(({ body }) => body.slice(body.indexOf('"events"')));
  assert.equal(new Set(events).size, 1, 'timestamps stay as well');
  assert.deepEqual(await storedIds(), ids);
  assert.equal(sender.counts.received, 5);
});

test('a rejected event is reported and not sent again; its neighbours are stored', async (context) => {
  const relay = await startRelay(service.url);
  const { sender, refused } = startSender(context, { baseUrl: relay.url });
  const before = sender.track(like());
  const unknown = sender.track(like({ contentId: 'no-such-item' }));
  const wrong = sender.track({ event: 'impression', contentId, data: { position: -1 } });
  const large = sender.track(like({ data: { note: 'x'.repeat(9_000) } }));
  const huge = sender.track(like({ data: { note: 'x'.repeat(70_000) } }));
  const after = sender.track(like());
  await sender.flush();
  assert.deepEqual(await storedIds(), [before, after]);
  assert.deepEqual(
    refused.map(({ event, code }) => [event.eventId, code]),
    [
      [unknown, 'NOT_FOUND'],
      [wrong, 'VALIDATION_ERROR'],
      [large, 'VALIDATION_ERROR'],
      [huge, 'VALIDATION_ERROR'],
    ],
  );
  assert.match(refused[1]?.message ?? '', /^data\.position: /);
  assert.deepEqual(sender.counts, { waiting: 0, received: 2, refused: 4, dropped: 0 });
  const sent = relay.requests.flatMap(({ body }) => idsOf(body));
  assert.equal(sent.length, new Set(sent).size);
});

test('a request that is refused whole, as with a wrong key, is sent once and reported', async (context) => {
  const relay = await startRelay(service.url);
  const { sender, refused } = startSender(context, {
    baseUrl: relay.url,
    publishableKey: 'rf_pk_wrong',
  });
  sender.track(like());
  sender.track(like());
  await sender.flush();
  assert.deepEqual(
    refused.map(({ code }) => code),
    ['UNAUTHORIZED', 'UNAUTHORIZED'],
  );
  assert.equal(relay.requests.length, 1);
});

test('an item of another organization is refused by its code', async (context) => {
  const { publishableKey } = await createOrganization(service, 'Another one');
  const { sender, refused } = startSender(context, { publishableKey });
  sender.track(like());
  await sender.flush();
  assert.equal(refused[0]?.code, 'NOT_FOUND');
});

test('events tracked while the service is down arrive when it is up again', async (context) => {
  const first = await startService({ REELFEED_ROLES: 'api' }, { beside: service });
  const { sender, refused, dropped } = startSender(context, {
    baseUrl: first.url,
    batchInterval: 50,
    retryDelayMs: 100,
  });
  const ids = [sender.track(like())];
  await sender.flush();
  await first[Symbol.asyncDispose]();
  for (let count = 0; count < 130; count += 1) ids.push(sender.track(like()));
  await pause(400, 'some attempts fail');
  assert.equal(sender.counts.waiting, 130);
  const { port } = new URL(first.url);
  await startService({ REELFEED_ROLES: 'api', PORT: port }, { beside: service });
  await sender.flush();
  assert.deepEqual((await storedIds()).toSorted(), ids.toSorted());
  assert.deepEqual([refused, dropped], [[], []]);
});

test('503 and 429 are waited out, at least as long as Retry-After says; other 5xx with back-off', async (context) => {
  const refuse =
    (status: number, headers = {}) =>
    (response: ServerResponse) =>
      void response.writeHead(status, headers).end();
  const relay = await startRelay(service.url, (count) => {
    if (count === 1) return refuse(503, { 'retry-after': '1' });
    if (count === 2) return refuse(429, { 'retry-after': '1' });
    return count === 3 ? refuse(502) : 'pass';
  });
  const { sender, refused } = startSender(context, { baseUrl: relay.url });
  const id = sender.track(like());
  await sender.flush();
  const pausesMs = relay.requests
    .slice(1)
    .map(({ atMs }, at) => atMs - (relay.requests[at]?.atMs ?? 0));
  assert.equal(pausesMs.length, 3);
  assert((pausesMs[0] ?? 0) >= 995 && (pausesMs[1] ?? 0) >= 995, `paused ${pausesMs.join()} ms`);
  assert.deepEqual(await storedIds(), [id]);
  assert.deepEqual(refused, []);
});

test('a page from an intermediary is not a valid response', async (context) => {
  const relay = await startRelay(service.url, (count) =>
    count === 1 ? (response) => void response.end('<h1>Please sign in</h1>') : 'pass',
  );
  const { sender } = startSender(context, { baseUrl: relay.url });
  const id = sender.track(like());
  await sender.flush();
  assert.deepEqual(await storedIds(), [id]);
});
