/**
 * Tests what `GET /v1/events/stream` shows across processes, and that slow readers cost nothing.
 */
import assert from 'node:assert/strict';
import { request, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { test } from 'node:test';
import { sampleEvent } from './event-samples.ts';
import { atEnd } from './database.ts';
import { createItem, createOrganization } from './seed.ts';
import { eventually, send, startService } from './service.ts';
import { newUuid7 } from '../src/platform/values/uuid7.ts';
import { pause, stays } from './waiting.ts';

const service = await startService({ REELFEED_ROLES: 'api' });
const other = await startService({ REELFEED_ROLES: 'api' }, { beside: service });
const { id: contentId } = await createItem(service);

// oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers of every shape
type Shown = { event: string; data: any };

/** Opens a live tail and collects its events. */
async function openTail(query = '', { key = service.secretKey, url = service.url } = {}) {
  const asked = request(`${url}/v1/events/stream${query}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  asked.end();
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  const tail = { response, shown: [] as Shown[], text: '', isEnded: false };
  response.setEncoding('utf8');
  response.on('data', (chunk: string) => {
    tail.text += chunk;
    const parts = tail.text.split('\n\n');
    tail.text = parts.pop() ?? '';
    for (const part of parts) {
      const match = /^event: (\w+)\ndata: (.+)$/.exec(part);
      if (match !== null)
        tail.shown.push({ event: match[1] ?? '', data: JSON.parse(match[2] ?? '') });
    }
  });
  response.on('end', () => (tail.isEnded = true)).on('error', () => undefined);
  atEnd(async () => void response.destroy());
  // The tail starts with its first read of the log.
  await pause(600, 'the tail takes its first look');
  return tail;
}

const post = (events: unknown[], url = service.url) =>
  send(`${url}/v1/events/batch`, 'POST', { key: service.publishableKey, body: { events } });
const like = (fields = {}) => sampleEvent('like', contentId, fields);
const shownIds = (tail: { shown: Shown[] }) =>
  tail.shown.filter(({ event }) => event === 'event').map(({ data }) => data.eventId as string);

test('accepted and rejected events of every process, with reasons', async () => {
  const tail = await openTail();
  assert.equal(tail.response.statusCode, 200);
  assert.match(tail.response.headers['content-type'] ?? '', /^text\/event-stream/);
  const [here, there, wrong] = [like(), like(), like({ event: 'view' })];
  await post([here, wrong]);
  await post([there, 5], other.url);
  await eventually('four events', async () => (tail.shown.length >= 4 ? true : null));
  const byId = new Map(tail.shown.map(({ data }) => [data.eventId, data]));
  assert.deepEqual(byId.get(here['eventId']), {
    status: 'accepted',
    receivedAt: byId.get(here['eventId']).receivedAt,
    eventId: here['eventId'],
    event: 'like',
    contentId,
    timestamp: here['timestamp'],
    userId: 'ada',
    deviceId: 'phone-1',
    sessionId: 'session-1',
    country: null,
    device: null,
    appVersion: null,
    bot: false,
    data: {},
  });
  assert.ok(byId.has(there['eventId']));
  const { code, message, event, status } = byId.get(wrong['eventId']);
  assert.deepEqual([status, code, event], ['rejected', 'UNKNOWN_EVENT', 'view']);
  assert.match(message, /^event: /);
  assert.equal(byId.get(null).code, 'VALIDATION_ERROR');
  tail.response.destroy();
});

test('the API reference lists every field that it shows, and its filters', async () => {
  const tail = await openTail();
  await post([like(), like({ event: 'view' })]);
  await eventually('both', async () => (tail.shown.length >= 2 ? true : null));
  tail.response.destroy();
  const { body: api } = await send(`${service.url}/openapi.json`, 'GET');
  const { parameters, responses, security } = api.paths['/v1/events/stream'].get;
  assert.deepEqual(security, [{ secretKey: [] }]);
  const names = parameters.map((one: { name: string }) => one.name);
  assert.deepEqual(names, ['status', 'event', 'contentId', 'userId']);
  const { description } = responses['200'].content['text/event-stream'].schema;
  for (const { event, data } of tail.shown) {
    for (const field of [event, ...Object.keys(data)])
      assert.ok(description.includes(`\`${field}\``));
  }
});

test('a filter shows what it selects, and duplicates are not shown', async () => {
  const one = newUuid7();
  const tails = {
    rejected: await openTail('?status=rejected'),
    accepted: await openTail('?status=accepted'),
    kind: await openTail('?event=playStart'),
    user: await openTail(`?userId=bob&contentId=${contentId.toUpperCase()}`),
  };
  const play = sampleEvent('playStart', contentId);
  const bobs = like({ userId: 'bob' });
  const wrong = like({ eventId: one, contentId: 'x', userId: 'bob' });
  await post([play, bobs, wrong, play]);
  await post([play]);
  await eventually('the events', async () => {
    const [rejected, accepted, kind, user] = Object.values(tails).map(shownIds);
    const missing = [!rejected?.length, (accepted?.length ?? 0) < 2, !kind?.length, !user?.length];
    return missing.includes(true) ? null : true;
  });
  await pause(1_000, 'what must not come would come with the next rounds');
  assert.deepEqual(shownIds(tails.rejected), [one]);
  assert.deepEqual(shownIds(tails.accepted), [play['eventId'], bobs['eventId']]);
  assert.deepEqual(shownIds(tails.kind), [play['eventId']]);
  assert.deepEqual(shownIds(tails.user), [bobs['eventId']]);
  for (const { response } of Object.values(tails)) response.destroy();
  const unknown = await service.call('GET', '/v1/events/stream?colour=red');
  assert.equal(unknown.status, 400);
});

test('another organization sees nothing of it', async () => {
  const theirs = await createOrganization(service, 'Another one');
  const tail = await openTail('', { key: theirs.secretKey });
  await post([like(), like({ event: 'view' })]);
  await stays('what they see', () => tail.shown, [], 1_000);
  tail.response.destroy();
  const refused = await service.call('GET', '/v1/events/stream', { key: service.publishableKey });
  assert.equal(refused.status, 403);
});

test('under load it is a sample that counts what it omits', async () => {
  const tail = await openTail();
  const batches = Array.from({ length: 40 }, () => Array.from({ length: 100 }, () => like()));
  await Promise.all(batches.map((events) => post(events)));
  const wrong = Array.from({ length: 100 }, () => like({ event: 'view' }));
  await post(wrong);
  const total = await eventually('everything to be shown or counted', async () => {
    const skipped = tail.shown
      .filter(({ event }) => event === 'skipped')
      .reduce((sum, { data }) => sum + Number(data.count), 0);
    return shownIds(tail).length + skipped === 4_100 ? { skipped } : null;
  });
  assert.ok(total.skipped > 1_000);
  assert.ok(shownIds(tail).length >= 100);
  tail.response.destroy();
});

test('a slow reader is told later how much it has missed, and delays nobody', async () => {
  const slow = await openTail();
  slow.response.pause();
  const quick = await openTail();
  const large = { data: { text: 'x'.repeat(8_000) } };
  const last = like();
  for (let round = 0; round < 30; round += 1) {
    await post(Array.from({ length: 100 }, () => like(large)));
    await pause(100, 'rounds pass between the batches');
  }
  await post([last]);
  await eventually('the quick one to see the last', async () =>
    shownIds(quick).includes(String(last['eventId'])) || quick.shown.at(-1)?.event === 'skipped'
      ? true
      : null,
  );
  slow.response.resume();
  await eventually('the slow one to be told', async () => {
    await post([like()]);
    return slow.shown.some(({ event }) => event === 'skipped') ? true : null;
  });
  slow.response.destroy();
  quick.response.destroy();
});

test('it ends when its key is revoked, and when its process stops', async () => {
  const { body } = await service.call('POST', '/v1/keys', {
    body: { type: 'secret', name: 'Tail' },
  });
  const revoked = await openTail('', { key: body.data.key });
  const lasting = await openTail('', { url: other.url });
  await service.call('DELETE', `/v1/keys/${body.data.id}`);
  await eventually('the end', async () => (revoked.isEnded ? true : null), 6_000);
  assert.deepEqual(revoked.shown.at(-1), { event: 'end', data: { reason: 'KEY_REVOKED' } });
  assert.equal(lasting.isEnded, false);
  const startedAt = performance.now();
  await other[Symbol.asyncDispose]();
  assert.ok(performance.now() - startedAt < 10_000, 'a tail does not hold up the end');
  await eventually('the end', async () => (lasting.isEnded ? true : null));
  assert.deepEqual(lasting.shown.at(-1), { event: 'end', data: { reason: 'shutdown' } });
});

test('the number of tails is limited', async () => {
  const tails = [];
  for (let n = 0; n < 20; n += 1) tails.push(await openTail());
  const refused = await service.call('GET', '/v1/events/stream');
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '5']);
  for (const { response } of tails) response.destroy();
  await eventually('room for another', async () => {
    const again = await openTail();
    again.response.destroy();
    return again.response.statusCode === 200 ? true : null;
  });
});
