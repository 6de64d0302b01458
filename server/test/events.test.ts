/**
 * Tests which batches the event intake rejects as a whole, and what it adjusts and deduplicates.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { startEventService } from './event-judge.ts';
import { sampleEvent } from './event-samples.ts';
import { createItem, createOrganization, query } from './seed.ts';
import { eventually, send, type Call } from './service.ts';
import { newUuid7 } from '../src/platform/values/uuid7.ts';
import { until } from './waiting.ts';

const { service, stored, contentId, otherId, post, sendOne, sendBatch, event, judge } =
  await startEventService();
const other = await createOrganization(service, 'Another one');

describe('JSON that no serializer produces', () => {
  const raw = (data: string, more = '') =>
    `{"events":[${JSON.stringify(event())},{"event":"like","contentId":"${contentId}","data":${data}${more}}]}`;
  const cases: Record<string, [json: string, failed: number]> = {
    '1e400 in data': [raw('{"a":1e400}'), 1],
    '-1e400 deep in data': [raw('{"a":[{"b":-1e400}]}'), 1],
    '__proto__ in data': [raw('{"__proto__":{"polluted":1}}'), 1],
    '__proto__ deeper in data': [raw('{"a":{"__proto__":null}}'), 1],
    '__proto__ by an escape': [raw('{"a":{"\\u005f_proto__":1}}'), 1],
    'constructor.prototype in data': [raw('{"constructor":{"prototype":{"polluted":1}}}'), 0],
    '__proto__ beside data': [raw('{}', ',"__proto__":{"polluted":1,"userId":5}'), 0],
    'hasOwnProperty beside data': [raw('{"hasOwnProperty":1}', ',"hasOwnProperty":1'), 0],
    'data of depth 50': [raw(`${'{"a":'.repeat(50)}1${'}'.repeat(50)}`), 1],
    'an ignored field of depth 50': [raw('{}', `,"x":${'['.repeat(50)}${']'.repeat(50)}`), 0],
    'a key that comes twice': [raw('{"a":1,"a":2}'), 0],
    '9,000 keys': [raw(`{${Array.from({ length: 9_000 }, (_, n) => `"${n}":1`).join()}}`), 1],
  };
  for (const [name, [json, failed]] of Object.entries(cases)) {
    test(name, async () => {
      const headers = { 'content-type': 'application/json' };
      const { status, body, text } = await post('/v1/events/batch', json, { headers });
      assert.equal(status, 200, text);
      assert.deepEqual([body.data.received, body.data.failed], [2 - failed, failed], text);
      assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
      await stored.fresh();
    });
  }

  const beyond = {
    'data of depth 10,000': raw(`${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`),
    'an ignored field of depth 10,000': raw(
      '{}',
      `,"x":${'['.repeat(10_000)}${']'.repeat(10_000)}`,
    ),
    '100,000 keys': raw(`{${Array.from({ length: 100_000 }, (_, n) => `"${n}":1`).join()}}`),
  };
  for (const [name, json] of Object.entries(beyond)) {
    test(`${name} reject the whole body, also with an Idempotency-Key`, async () => {
      const key = service.secretKey;
      const headers = { 'content-type': 'application/json' };
      for (const more of [{}, { 'idempotency-key': randomUUID() }]) {
        const reply = await post('/v1/events/batch', json, {
          key,
          headers: { ...headers, ...more },
        });
        assert.deepEqual(
          [reply.status, reply.body.error.code],
          [400, 'INVALID_REQUEST'],
          reply.text,
        );
      }
      assert.deepEqual(await stored.fresh(), []);
    });
  }
});

describe('a body that is not a batch is rejected as a whole and stores nothing', () => {
  const events = (count: number) => Array.from({ length: count }, () => event());
  const cases: Record<string, [body: unknown, code: string]> = {
    'no events': [{ events: [] }, 'VALIDATION_ERROR'],
    '101 events': [{ events: events(101) }, 'LIMIT_EXCEEDED'],
    'events that is not an array': [{ events: { 0: event() } }, 'VALIDATION_ERROR'],
    'events that is null': [{ events: null }, 'VALIDATION_ERROR'],
    'an empty object': [{}, 'VALIDATION_ERROR'],
    'an array': [events(2), 'INVALID_REQUEST'],
    null: ['null', 'INVALID_REQUEST'],
    'a text': ['"events"', 'INVALID_REQUEST'],
    'a number': ['5', 'INVALID_REQUEST'],
    'an unknown field': [{ events: events(1), sentAt: 5 }, 'VALIDATION_ERROR'],
    'broken JSON': ['{"events":[', 'INVALID_REQUEST'],
    NaN: ['{"events":[NaN]}', 'INVALID_REQUEST'],
    'a byte order mark': [`\uFEFF{"events":[${JSON.stringify(event())}]}`, 'INVALID_REQUEST'],
    nothing: ['', 'INVALID_REQUEST'],
    'bytes that are no UTF-8': [Buffer.from([0x22, 0xff, 0x22]), 'INVALID_REQUEST'],
  };
  for (const [name, [body, code]] of Object.entries(cases)) {
    test(name, async () => {
      await stored.fresh();
      const call = { headers: { 'content-type': 'application/json' } };
      const reply = await post(
        '/v1/events/batch',
        typeof body === 'object' && !Buffer.isBuffer(body) ? JSON.stringify(body) : body,
        call,
      );
      assert.deepEqual([reply.status, reply.body.error.code], [400, code], reply.text);
      assert.deepEqual(await stored.fresh(), []);
    });
  }

  test('100 events are accepted', async () => {
    await stored.fresh();
    const { body } = await sendBatch(events(100));
    assert.deepEqual(body.data, { received: 100, failed: 0, errors: [] });
    assert.equal((await stored.fresh()).length, 100);
  });

  test('one event that is not an object', async () => {
    for (const body of ['null', '[]', '5', '"x"', '']) {
      const headers = { 'content-type': 'application/json' };
      const reply = await post('/v1/events', body, { headers });
      assert.deepEqual([reply.status, reply.body.error.code], [400, 'INVALID_REQUEST'], body);
    }
  });
});

describe('times', () => {
  const minutes = (count: number) => new Date(Date.now() + count * 60_000).toISOString();
  const keptAt = async (timestamp: string | undefined) => {
    await stored.fresh();
    const { status, body } = await sendOne(event('like', { timestamp }));
    const [kept] = await stored.fresh();
    return { status, code: body.error?.code, at: kept?.at };
  };
  const nearly = (at: number | undefined, expected: number) =>
    assert.ok(Math.abs((at ?? 0) - expected) < 5_000, `${at} is not about ${expected}`);

  test('up to five minutes in the future are kept, later ones become now', async () => {
    const near = minutes(4.95);
    assert.equal((await keptAt(near)).at, Date.parse(near));
    nearly((await keptAt(minutes(5.05))).at, Date.now());
    nearly((await keptAt('9999-12-31T23:59:59.999Z')).at, Date.now());
  });

  test('up to 24 hours in the past are kept, older ones are rejected', async () => {
    const old = minutes(-24 * 60 + 1);
    assert.equal((await keptAt(old)).at, Date.parse(old));
    assert.deepEqual(await keptAt(minutes(-24 * 60 - 1)), {
      status: 400,
      code: 'EVENT_TOO_OLD',
      at: undefined,
    });
  });

  test('a missing time is now; every form of RFC 3339 is accepted', async () => {
    nearly((await keptAt(undefined)).at, Date.now());
    const moment = new Date(Math.floor(Date.now() / 60_000) * 60_000);
    const local = new Date(moment.getTime() + 5.5 * 3_600_000).toISOString();
    for (const form of [
      moment.toISOString(),
      moment.toISOString().replace('.000Z', 'Z'),
      moment.toISOString().replace('.000Z', '.000000000+00:00'),
      moment.toISOString().toLowerCase(),
      local.replace('Z', '+05:30'),
    ]) {
      assert.equal((await keptAt(form)).at, moment.getTime(), form);
    }
  });
});

describe('an event counts once', () => {
  test('within a batch, regardless of the case of a UUID, and each is answered as received', async () => {
    await stored.fresh();
    const eventId = randomUUID();
    const upper = eventId.toUpperCase();
    const { body } = await sendBatch([
      event('like', { eventId }),
      event('save', { eventId: upper }),
      event('like', { eventId: 'Own' }),
      event('like', { eventId: 'own' }),
    ]);
    assert.deepEqual([body.data.received, body.data.failed], [4, 0]);
    const kept = await stored.fresh();
    assert.deepEqual(
      kept.map(({ event: kind, eventId: id }) => [kind, id]),
      [
        ['like', eventId],
        ['like', 'Own'],
        ['like', 'own'],
      ],
    );
  });

  test('across requests, routes, and an adjusted timestamp', async () => {
    await stored.fresh();
    const ahead = event('like', { timestamp: '2099-01-01T00:00:00Z' });
    assert.equal((await sendOne(ahead)).body.data.received, true);
    const again = await sendOne(ahead);
    assert.deepEqual(again.body.data, { received: true, eventId: ahead['eventId'] });
    assert.equal((await sendBatch([ahead, ahead])).body.data.received, 2);
    assert.equal((await stored.fresh()).length, 1);
  });

  test('twenty requests at the same time', async () => {
    await stored.fresh();
    const events = Array.from({ length: 50 }, () => event());
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, n) => sendBatch(n % 2 === 0 ? events : events.toReversed())),
    );
    for (const { body } of replies) assert.equal(body.data.received, 50);
    assert.equal((await stored.fresh()).length, 50);
  });

  test('another organization has its own ids', async () => {
    await stored.fresh();
    const theirs = {
      ...service,
      call: (method: string, path: string, call: Call = {}) =>
        send(`${service.url}${path}`, method, { key: other.secretKey, ...call }),
    };
    const { id } = await createItem(theirs);
    const eventId = newUuid7();
    await sendOne(event('like', { eventId }));
    const { body } = await sendOne(sampleEvent('like', id, { eventId }), {
      key: other.publishableKey,
    });
    assert.equal(body.data.received, true);
    assert.equal((await stored.fresh()).length, 2);
  });

  test('a rejected event leaves its id free', async () => {
    await stored.fresh();
    const eventId = newUuid7();
    await sendOne(event('impression', { eventId, data: {} }));
    await sendOne(event('impression', { eventId }));
    assert.equal((await stored.fresh()).length, 1);
  });

  test('without an id each counts, and the response contains the id', async () => {
    await stored.fresh();
    const anonymous = event('like', { eventId: undefined });
    const first = await sendOne(anonymous);
    const second = await sendOne(anonymous);
    const ids = (await stored.fresh()).map(({ eventId }) => eventId);
    assert.deepEqual(ids, [first.body.data.eventId, second.body.data.eventId]);
    await sendOne(event('like', { eventId: ids[0] }));
    assert.deepEqual(await stored.fresh(), []);
  });

  test('an Idempotency-Key of a secret key replays the response', async () => {
    await stored.fresh();
    const call = { key: service.secretKey, headers: { 'idempotency-key': randomUUID() } };
    const body = [event('like', { eventId: undefined }), event('like', { contentId: 'x' })];
    const first = await sendBatch(body, call);
    const second = await sendBatch(body, call);
    assert.equal(second.headers.get('idempotent-replayed'), 'true');
    assert.deepEqual(second.text, first.text);
    assert.equal((await stored.fresh()).length, 1);
    assert.equal((await sendBatch([event()], call)).status, 422);
  });

  test('more concurrent requests with an Idempotency-Key than there are connections', async () => {
    await stored.fresh();
    const replies = await Promise.all(
      Array.from({ length: 40 }, () =>
        sendBatch([event()], {
          key: service.secretKey,
          headers: { 'idempotency-key': randomUUID() },
        }),
      ),
    );
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]));
    assert.equal((await stored.fresh()).length, 40);
  });
});

describe('sentAt', () => {
  const hourMs = 3_600_000;
  const iso = (ms: number) => new Date(ms).toISOString();
  const keptAt = async (body: object, path = '/v1/events/batch') => {
    await stored.fresh();
    const reply = await post(path, body);
    assert.equal(reply.status, 200, reply.text);
    const [kept] = await stored.fresh();
    return kept?.at ?? Number.NaN;
  };

  test('corrects the timestamps of a device whose clock is wrong, in either direction', async () => {
    for (const wrongByMs of [-400 * 24 * hourMs, -3 * hourMs, 2 * hourMs, 10 * 365 * 24 * hourMs]) {
      const happenedAt = Date.now() - 30_000;
      const like = event('like', { timestamp: iso(happenedAt + wrongByMs) });
      const sentAt = iso(Date.now() + wrongByMs);
      for (const at of [
        await keptAt({ events: [like], sentAt }),
        await keptAt({ ...like, eventId: newUuid7(), sentAt }, '/v1/events'),
      ]) {
        // The remaining difference is the request's transit time.
        assert.ok(Math.abs(at - happenedAt) < 20_000, `${wrongByMs}: ${at - happenedAt}`);
      }
    }
  });

  test('changes nothing if the clock is right to within a minute', async () => {
    const timestamp = iso(Date.now() - hourMs);
    const sentAt = iso(Date.now() - 30_000);
    const at = await keptAt({ events: [event('like', { timestamp })], sentAt });
    assert.equal(at, Date.parse(timestamp));
  });

  test('decides what is too old after the correction', async () => {
    const sentAt = iso(Date.now() + 30 * hourMs);
    const old = event('like', { timestamp: iso(Date.now() + 5 * hourMs) });
    const { body } = await post('/v1/events/batch', { events: [old], sentAt });
    assert.equal(body.data.errors[0].code, 'EVENT_TOO_OLD');
  });

  test('is rejected by name if it is not a timestamp, and nothing is stored', async () => {
    await stored.fresh();
    for (const sentAt of ['yesterday', 5, null, '2026-02-30T00:00:00Z']) {
      for (const reply of [
        await post('/v1/events/batch', { events: [event()], sentAt }),
        await post('/v1/events', { ...event(), sentAt }),
      ]) {
        assert.equal(reply.status, 400);
        assert.equal(reply.body.error.details[0].path, 'sentAt');
      }
    }
    assert.deepEqual(await stored.fresh(), []);
  });
});

describe('content', () => {
  test('items of another organization are unknown', async () => {
    const { body } = await sendBatch([event()], { key: other.publishableKey });
    assert.deepEqual(body.data.errors[0].code, 'NOT_FOUND');
    const unknown = await sendBatch([event('like', { contentId: newUuid7() })]);
    assert.equal(body.data.errors[0].message, unknown.body.data.errors[0].message);
  });

  test('archived items and items in any state count', async () => {
    const { id } = await createItem(service);
    await service.call('DELETE', `/v1/content/${id}`);
    assert.equal(await judge(sampleEvent('like', id)), null);
    const { id: fresh } = await createItem(service);
    assert.equal(await judge(sampleEvent('like', fresh)), null);
  });

  test('an id in upper case refers to the same item', async () => {
    await stored.fresh();
    await sendOne(
      event('swipe', {
        contentId: contentId.toUpperCase(),
        data: { fromContentId: otherId.toUpperCase(), watchTimeOnFrom: 1 },
      }),
    );
    const [kept] = await stored.fresh();
    assert.deepEqual([kept?.contentId, kept?.data['fromContentId']], [contentId, otherId]);
  });

  test('a permanently deleted item is rejected within five seconds', async () => {
    const { id } = await createItem(service);
    assert.equal(await judge(sampleEvent('like', id)), null);
    await query(service, 'delete from content where content_id = $1', [id]);
    const failed = async () => (await sendBatch([sampleEvent('like', id)])).body.data.failed;
    await until('the refusal', failed, (count) => count === 1, 5_000);
  });

  test('a swipe may be written as in the event table', async () => {
    await stored.fresh();
    const { body } = await sendBatch([
      event('swipe', { data: { fromContentId: otherId, watchTime: 2.5 } }),
      { event: 'swipe', data: { fromContentId: otherId, toContentId: contentId, watchTime: 3 } },
    ]);
    assert.equal(body.data.failed, 0, JSON.stringify(body.data.errors));
    const kept = await stored.fresh();
    assert.deepEqual(
      kept.map((one) => [one.contentId, one.data['fromContentId'], one.data['watchTimeOnFrom']]),
      [
        [contentId, otherId, 2.5],
        [contentId, otherId, 3],
      ],
    );
  });
});

describe('country and device', () => {
  const kept = async (fields: object, call: Call = {}) => {
    await stored.fresh();
    await sendOne(event('like', fields), call);
    const [one] = await stored.fresh();
    return [one?.country, one?.device];
  };
  const phone = { 'user-agent': 'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0)', 'cf-ipcountry': 'de' };

  test('come from the event, otherwise from the viewer’s request', async () => {
    assert.deepEqual(await kept({}, { headers: phone }), ['DE', 'ios']);
    assert.deepEqual(await kept({ country: 'fr', device: 'web' }, { headers: phone }), [
      'FR',
      'web',
    ]);
    assert.deepEqual(await kept({ country: 'xyz', device: 5 }, { headers: phone }), ['DE', 'ios']);
    assert.deepEqual(await kept({ country: 'XX' }, { headers: phone }), ['DE', 'ios'], 'unknown');
    assert.deepEqual(
      await kept({}, { headers: { 'user-agent': 'okhttp/4.9', 'cf-ipcountry': 'T1' } }),
      [undefined, 'android'],
    );
    assert.deepEqual(await kept({}), [undefined, undefined]);
  });

  test('of a server’s request say nothing about the viewer', async () => {
    const call = { headers: phone, key: service.secretKey };
    assert.deepEqual(await kept({}, call), [undefined, undefined]);
    assert.deepEqual(await kept({ country: 'AT' }, call), ['AT', undefined]);
  });
});

test('metrics count events by kind and outcome, and show what is waiting', async () => {
  const read = async (name: string) => {
    const { text } = await service.call('GET', '/metrics');
    return Number(
      text
        .split('\n')
        .find((line) => line.startsWith(name))
        ?.split(' ')
        .at(-1) ?? 0,
    );
  };
  const count = (kind: string, outcome: string) =>
    read(`events_total{event="${kind}",outcome="${outcome}"}`);
  const before = [await count('save', 'stored'), await count('save', 'duplicate')];
  const flushes = await read('event_flush_events_count');
  const saved = event('save');
  await sendBatch([saved, saved, event('save'), event('save', { contentId: 'x' })]);
  await sendBatch([event('like', { event: 'made-up-kind' })]);
  // Metrics are collected at most once per second.
  await eventually('the next collection', async () =>
    (await count('save', 'stored')) === before[0] ? null : true,
  );
  assert.deepEqual(
    [await count('save', 'stored'), await count('save', 'duplicate')],
    [(before[0] ?? 0) + 2, (before[1] ?? 0) + 1],
  );
  assert.ok((await count('save', 'not_found')) >= 1);
  assert.ok((await count('unknown', 'unknown_event')) >= 1);
  assert.equal(await count('made-up-kind', 'unknown_event'), 0);
  assert.equal(await read('event_flush_events_count'), flushes + 1);
  assert.ok((await read('event_flush_duration_seconds_count{outcome="stored"}')) > 0);
  assert.equal(await read('event_queue_depth'), 0);
  assert.ok((await read('event_ledger_bytes{generation="current"}')) > 0);
});
