/** Tests which events are accepted, what the log keeps of them, and why others are refused. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { FastifyRequest } from 'fastify';
import { noItem } from '../erasure/forget-items.ts';
import { checkData, maxDataBytes } from './event-data.ts';
import { EventProblem } from './event-problem.ts';
import { parseEvent, undecided, type EventSource } from './event-parser.ts';
import { dataRules, describeEventKinds, isPossiblePosition } from './event-rules.ts';
import { isWrongCountry, readCountry, senderOf } from './event-source.ts';
import { maxAgeMs, maxAheadMs } from './event-time.ts';

const nowMs = Date.UTC(2026, 10, 1, 12);
const contentId = '01890000-0000-7000-8000-000000000001';
const liveId = '01890000-0000-7000-8000-00000000000b';

function sourceOf(given: Partial<EventSource> = {}): EventSource {
  return {
    nowMs,
    clockOffsetMs: 0,
    country: null,
    device: null,
    isBot: false,
    isServer: false,
    signatures: { isRequired: false, check: () => 'missing' },
    crowdOf: () => 0,
    mayHoldBadText: true,
    findContent: (id) => ([contentId, liveId].includes(id.toLowerCase()) ? id.toLowerCase() : null),
    isEndless: (id) => id === liveId,
    customKinds: new Set(['custom.tap']),
    ...given,
  };
}

const parse = (fields: object, given: Partial<EventSource> = {}) =>
  parseEvent({ event: 'like', contentId, ...fields }, sourceOf(given));

function accepted(fields: object, given: Partial<EventSource> = {}) {
  const parsed = parse(fields, given);
  assert.ok(
    !(parsed instanceof EventProblem) && typeof parsed !== 'symbol',
    parsed instanceof EventProblem ? parsed.message : 'undecided',
  );
  return parsed;
}

function refusal(fields: unknown, given: Partial<EventSource> = {}): [string, string, string] {
  const parsed = parseEvent(fields, sourceOf(given));
  assert.ok(parsed instanceof EventProblem, JSON.stringify(fields));
  return [parsed.code, parsed.path, parsed.detail];
}
const refusedField = (fields: object, given: Partial<EventSource> = {}) =>
  refusal({ event: 'like', contentId, ...fields }, given)[1];

describe('an event', () => {
  test('is stored with its ids, its time and what is known from the request', () => {
    const at = '2026-11-01T11:00:00.000Z';
    const fields = { eventId: 'e', deviceId: 'd', sessionId: 's', userId: 'u', appVersion: '1.2' };
    const logged = accepted({ ...fields, timestamp: at, data: { any: 1 } }, { isBot: true });
    assert.deepEqual(logged, {
      ...fields,
      event: 'like',
      contentId,
      at: Date.parse(at),
      data: { any: 1 },
      bot: true,
    });
  });

  test('counts for its user where signatures are not required, otherwise only when signed', () => {
    const signed = { isRequired: true, check: () => 'signed' as const };
    const unsigned = { isRequired: true, check: () => 'missing' as const };
    const optional = { isRequired: false, check: () => 'missing' as const };
    const crowdOf = () => 3;
    const of = (signatures: EventSource['signatures']) => {
      const { userId, vouched, crowd } = accepted(
        { userId: 'u', deviceId: 'd' },
        { signatures, crowdOf },
      );
      return { userId, vouched, crowd };
    };
    assert.deepEqual(of(signed), { userId: 'u', vouched: true, crowd: undefined });
    assert.deepEqual(of(unsigned), { userId: undefined, vouched: undefined, crowd: 3 });
    assert.deepEqual(of(optional), { userId: 'u', vouched: undefined, crowd: 3 });
    assert.equal(accepted({}, { crowdOf }).crowd, undefined, 'nobody is no crowd');
    assert.equal('crowd' in accepted({ deviceId: 'd' }), false);
  });

  test('takes country and device from its own fields, otherwise from the request', () => {
    const request = { country: 'FR', device: 'web' as const };
    const of = (fields: object) => {
      const { country, device } = accepted(fields, request);
      return [country, device];
    };
    assert.deepEqual(of({}), ['FR', 'web']);
    assert.deepEqual(of({ country: 'de', device: 'ios' }), ['DE', 'ios']);
    assert.deepEqual(of({ device: 'android' }), ['FR', 'android']);
    assert.deepEqual(of({ country: 'Germany', device: 'fridge' }), ['FR', 'web']);
    assert.equal(refusedField({ country: 'QQ' }), 'country');
    const nothing = accepted({});
    assert.deepEqual(Object.keys(nothing), ['eventId', 'event', 'contentId', 'at', 'data']);
  });

  test('may be of a custom kind that is declared, with an item or without', () => {
    const tap = { event: 'custom.tap', contentId: undefined };
    assert.equal(accepted(tap).contentId, noItem);
    assert.equal(accepted({ ...tap, contentId }).contentId, contentId);
    assert.deepEqual(refusal({ event: 'custom.other' }).slice(0, 2), ['UNKNOWN_EVENT', 'event']);
    assert.match(refusal({ event: 'custom.other' })[2], /no metric has declared/);
    assert.match(refusal({ event: 'nothing' })[2], /must be one of "impression"/);
    assert.deepEqual(refusal({ event: 'like' }), ['VALIDATION_ERROR', 'contentId', 'is required']);
  });

  test('is refused with the field that is wrong', () => {
    assert.deepEqual(refusal('like'), ['VALIDATION_ERROR', '', 'An event must be an object.']);
    assert.deepEqual(refusal({}), ['VALIDATION_ERROR', 'event', 'is required']);
    assert.deepEqual(refusal({ event: 5 }), ['VALIDATION_ERROR', 'event', 'must be text']);
    assert.equal(refusedField({ data: null }), 'data');
    assert.equal(refusedField({ data: [] }), 'data');
    const unknown = refusal({ event: 'like', contentId: 'x' });
    assert.deepEqual(unknown, ['NOT_FOUND', 'contentId', 'there is no content item with this id']);
    const found = new EventProblem('NOT_FOUND', 'contentId', 'is gone');
    assert.equal(found.message, 'contentId: is gone');
    assert.equal(new EventProblem('NOT_FOUND', '', 'It is gone.').message, 'It is gone.');
    assert.equal(parse({}, { findContent: () => undefined }), undecided);
  });

  test('has ids of 1 to 256 characters, 128 for its own, counted as people do', () => {
    for (const [name, most] of [
      ['eventId', 128],
      ['userId', 256],
      ['deviceId', 256],
      ['sessionId', 256],
      ['appVersion', 64],
    ] as const) {
      for (const letter of ['a', '\u{1F3AC}']) {
        accepted({ [name]: letter.repeat(most) });
        assert.equal(refusedField({ [name]: letter.repeat(most + 1) }), name);
      }
      for (const wrong of ['', null, 5, 'a\0', '\ud800'])
        assert.equal(refusedField({ [name]: wrong }), name, JSON.stringify(wrong));
    }
    accepted({ userId: '\ud800' }, { mayHoldBadText: false });
  });
});

describe('the time of an event', () => {
  const told = (ms: number, clockOffsetMs = 0) =>
    parse({ timestamp: new Date(ms).toISOString() }, { clockOffsetMs });
  test('is now without a timestamp or beyond five minutes ahead, and refused after a day', () => {
    const at = (ms: number, clockOffsetMs = 0) => {
      const parsed = told(ms, clockOffsetMs);
      return typeof parsed === 'object' && 'at' in parsed ? parsed.at : parsed;
    };
    assert.equal(accepted({}).at, nowMs);
    assert.equal(at(nowMs + maxAheadMs), nowMs + maxAheadMs);
    assert.equal(at(nowMs + maxAheadMs + 1), nowMs);
    assert.equal(at(nowMs - maxAgeMs), nowMs - maxAgeMs);
    assert.ok(at(nowMs - maxAgeMs - 1) instanceof EventProblem);
    assert.equal(at(nowMs - maxAgeMs - 1, 1), nowMs - maxAgeMs);
    const old = refusal({ event: 'like', contentId, timestamp: '2026-10-30T12:00:00Z' });
    assert.deepEqual(old, ['EVENT_TOO_OLD', 'timestamp', 'is more than 24 hours ago']);
    for (const wrong of [null, 5, 'today', '2026-11-01'])
      assert.equal(refusedField({ timestamp: wrong }), 'timestamp');
  });
});

describe('the data of an event', () => {
  test('has the fields of its kind, each within its bounds', () => {
    const right: [kind: string, data: Record<string, unknown>][] = [
      ['impression', { position: 0, entryPoint: 'feed' }],
      ['impression', { position: 1e9 }],
      ['playStart', { startupTime: 1, autoplay: false }],
      ['watchProgress', { currentTime: 0, duration: 1e9, percentComplete: 100, watchTime: 0 }],
      ['watchProgress', { currentTime: 1, duration: 0, percentComplete: 0, watchTime: 604_800 }],
      ['completion', { watchTime: 1.5, looped: true, loopCount: 2 }],
      ['share', { platform: 'x' }],
      ['notInterested', { scope: 'author', undo: true }],
      ['error', { errorCode: '1', errorMessage: '' }],
    ];
    for (const [event, data] of right) accepted({ event, data });
    const wrong: [kind: string, data: Record<string, unknown>, field: string][] = [
      ['impression', {}, 'position'],
      ['impression', { position: -1 }, 'position'],
      ['impression', { position: 1.5 }, 'position'],
      ['impression', { position: 1e9 + 1 }, 'position'],
      ['impression', { position: 0, entryPoint: '' }, 'entryPoint'],
      ['playStart', { startupTime: 1, autoplay: 'yes' }, 'autoplay'],
      ['watchProgress', { currentTime: -0.1, duration: 1 }, 'currentTime'],
      ['watchProgress', { currentTime: 0, duration: 1e9 + 1 }, 'duration'],
      ['watchProgress', { currentTime: 0, duration: 1, percentComplete: 100.1 }, 'percentComplete'],
      ['watchProgress', { currentTime: 0, duration: 1, percentComplete: -1 }, 'percentComplete'],
      ['watchProgress', { currentTime: 0, duration: 1, watchTime: 604_801 }, 'watchTime'],
      ['completion', { watchTime: -1, looped: true }, 'watchTime'],
      ['completion', { watchTime: '1', looped: true }, 'watchTime'],
      ['share', { platform: 5 }, 'platform'],
      ['notInterested', { scope: 'section' }, 'scope'],
      ['error', { errorCode: '1', errorMessage: 5 }, 'errorMessage'],
    ];
    for (const [event, data, field] of wrong)
      assert.equal(refusedField({ event, data }), `data.${field}`, `${event} ${field}`);
  });

  test('names a position within the item, unless it is live', () => {
    const progress = (currentTime: number, id = contentId) => ({
      event: 'watchProgress',
      contentId: id,
      data: { currentTime, duration: 100 },
    });
    accepted(progress(107));
    assert.equal(refusedField(progress(107.1)), 'data.currentTime');
    accepted(progress(1_000, liveId));
    assert.equal(isPossiblePosition(5_000, 0), true, 'a duration of 0 is unknown');
    assert.equal(isPossiblePosition(3.06, 1), false);
  });

  test('of a swipe is read under its earlier names as well', () => {
    const swipe = { event: 'swipe', fromContentId: liveId.toUpperCase(), watchTime: 3 };
    const of = (raw: object) => {
      const parsed = parseEvent(raw, sourceOf());
      assert.ok(!(parsed instanceof EventProblem) && typeof parsed !== 'symbol');
      return [parsed.contentId, parsed.data['fromContentId'], parsed.data['watchTimeOnFrom']];
    };
    assert.deepEqual(of({ ...swipe, toContentId: contentId }), [contentId, liveId, 3]);
    assert.deepEqual(
      of({ event: 'swipe', data: { toContentId: contentId, fromContentId: liveId, watchTime: 2 } }),
      [contentId, liveId, 2],
    );
    const own = { fromContentId: liveId, watchTimeOnFrom: 1, watchTime: 9 };
    assert.deepEqual(of({ ...swipe, contentId, data: own }), [contentId, liveId, 1]);
    assert.deepEqual(of({ ...swipe, contentId, watchTimeOnFrom: 4 }), [contentId, liveId, 4]);
    const twice = { ...swipe, fromContentId: contentId, contentId, data: own };
    assert.deepEqual(of(twice), [contentId, liveId, 1], 'the names of the contract count first');
    assert.equal(refusedField({ event: 'swipe', data: { watchTime: 1 } }), 'data.fromContentId');
    const gone = { fromContentId: 'x', watchTimeOnFrom: 1 };
    assert.equal(refusedField({ event: 'swipe', data: gone }), 'data.fromContentId');
  });

  test('has at most 8 levels, 8 KB of JSON, finite numbers and whole texts', () => {
    const nested = (levels: number): object => (levels === 1 ? {} : { a: nested(levels - 1) });
    const inList = (levels: number): unknown => (levels === 1 ? [] : [inList(levels - 1)]);
    const problem = (data: object, mayHoldBadText = true) =>
      checkData(data as Record<string, unknown>, mayHoldBadText)?.message ?? null;
    assert.equal(problem(nested(8)), null);
    assert.match(problem(nested(9)) ?? '', /^data: must not be nested deeper than 8/);
    assert.equal(problem({ a: inList(7) }), null);
    assert.match(problem({ a: inList(8) }) ?? '', /nested/);
    assert.match(problem({ a: [1, { b: Infinity }] }) ?? '', /^data\.a\[1\]\.b: is too large/);
    assert.match(problem({ a: { 'b\0': 1 } }) ?? '', /^data\.a \(a key\): .* NUL/);
    assert.match(problem({ a: ['\ud800'] }) ?? '', /^data\.a\[0\]: .* surrogate/);
    assert.equal(problem({ a: ['\ud800'] }, false), null);
    assert.match(problem(JSON.parse('{"__proto__":1}')) ?? '', /__proto__/);
    const filled = (bytes: number) => ({ a: 'x'.repeat(bytes - 8) });
    assert.equal(problem(filled(maxDataBytes)), null);
    assert.match(problem(filled(maxDataBytes + 1)) ?? '', /at most 8192 bytes/);
  });

  test('is refused exactly when its JSON is too long, whatever it holds', () => {
    const names = fc.string().filter((name) => name !== '__proto__');
    const values = fc.oneof(
      fc.string(),
      fc.double({ noDefaultInfinity: true, noNaN: true }),
      fc.constant(null),
    );
    const data = fc.dictionary(names, values, { maxKeys: 5 });
    fc.assert(
      fc.property(data, fc.integer({ min: 7_900, max: 8_200 }), (fields, length) => {
        const all = { ...fields, padding: 'x'.repeat(length) };
        const isTooLong = Buffer.byteLength(JSON.stringify(all)) > maxDataBytes;
        assert.equal(checkData(all, false) !== null, isTooLong);
      }),
      { numRuns: 200 },
    );
  });

  test('may be as long as its JSON, however little of that its values are', () => {
    const listOf = (value: unknown) => (count: number) => ({ a: Array(count).fill(value) });
    // Each of these characters takes six bytes of JSON.
    const letter = (n: number) => String.fromCharCode(14 + (Math.floor(n) % 18));
    const keys = (count: number) =>
      Object.fromEntries(
        Array.from({ length: count }, (_, n) => [
          letter(n) + letter(n / 18) + letter(n / 324),
          true,
        ]),
      );
    for (const [what, dataOf] of Object.entries({
      'an escaped character': listOf('\u0001'),
      'an empty text': listOf(''),
      'a long number': listOf(-1.234_567_890_123_456_7e-100),
      false: listOf(false),
      'an object': listOf({}),
      'a list': listOf([]),
      'escaped keys': keys,
    })) {
      const lengthOf = (count: number) => Buffer.byteLength(JSON.stringify(dataOf(count)));
      const each = lengthOf(2) - lengthOf(1);
      const count = 1 + Math.floor((maxDataBytes - lengthOf(1)) / each);
      assert.ok(lengthOf(count) <= maxDataBytes && lengthOf(count + 1) > maxDataBytes, what);
      assert.equal(checkData(dataOf(count), true), null, what);
      assert.match(checkData(dataOf(count + 1), true)?.message ?? '', /at most 8192 bytes/, what);
    }
  });

  test('is described by the guide, each field of each kind in a row', () => {
    const rows = describeEventKinds().split('\n');
    const fields = Object.values(dataRules).flat();
    const without = Object.values(dataRules).filter((rules) => rules.length === 0);
    assert.equal(rows.length, 2 + fields.length + without.length);
    for (const start of [
      '| `like` | | | |',
      '| `impression` | `position` | whole number |',
      '| | `entryPoint`? | text |',
    ]) {
      assert.ok(
        rows.some((row) => row.startsWith(start)),
        `${start} in ${rows.join('\n')}`,
      );
    }
  });
});

test('whatever is sent, the answer is an event, a refusal with a reason, or undecided', () => {
  const kinds = fc.constantFrom(...Object.keys(dataRules), 'custom.tap', 'x');
  const texts = fc.constantFrom(contentId, liveId, '', 'x', '2026-11-01T11:00:00Z', 'DE', '\0');
  const value = fc.oneof(texts, fc.jsonValue({ maxDepth: 2 }));
  const names = fc.constantFrom('eventId', 'userId', 'timestamp', 'country', 'device', 'deviceId');
  const events = fc
    .tuple(kinds, value, value, fc.dictionary(names, value))
    .map(([event, id, data, fields]) => ({ event, contentId: id, data, ...fields }));
  fc.assert(
    fc.property(fc.oneof(events, fc.jsonValue()), (raw) => {
      const parsed = parseEvent(raw, sourceOf());
      if (typeof parsed === 'symbol') return;
      if (parsed instanceof EventProblem) assert.ok(parsed.detail.length > 0);
      else {
        assert.ok(parsed.at <= nowMs + maxAheadMs && parsed.at >= nowMs - maxAgeMs);
        assert.ok([contentId, liveId, noItem].includes(parsed.contentId));
        assert.ok(parsed.eventId.length > 0);
      }
    }),
    { numRuns: 500 },
  );
});

test('country codes are accepted in any case, and unknown codes are distinguished from free text', () => {
  assert.deepEqual(['de', 'DE', 'XX', 'DEU', 'D', 5, ['de'], null].map(readCountry), [
    'DE',
    'DE',
    null,
    null,
    null,
    null,
    null,
    null,
  ]);
  assert.deepEqual(['QQ', 'qq', 'XX', 'T1', 'DE', 'DEU', 5].map(isWrongCountry), [
    true,
    true,
    false,
    false,
    false,
    false,
    false,
  ]);
});

test('the sender of a request is known by its headers, unless a server has sent it', () => {
  const of = (type: string | undefined, agent: string | undefined, country = 'de') =>
    senderOf(
      {
        principal: type === undefined ? undefined : { type },
        headers: { 'cf-country': country, 'user-agent': agent },
        client: { address: '8.8.8.8', isCertain: true },
      } as unknown as FastifyRequest,
      'cf-country',
    );
  const deviceOf = (agent: string | undefined) => of('publishable', agent).device;
  assert.deepEqual(of('publishable', undefined), {
    country: 'DE',
    device: null,
    isBot: false,
    isServer: false,
    address: '8.8.8.8',
  });
  for (const type of ['secret', undefined]) {
    const { country, device, isServer, address } = of(type, 'okhttp/4.9');
    assert.deepEqual([country, device, isServer, address], [null, null, true, null]);
  }
  assert.equal(of('publishable', undefined, 'XX').country, null);
  assert.equal(deviceOf('Mozilla/5.0 (iPhone; CPU iPhone OS 18_0)'), 'ios');
  assert.equal(deviceOf('App/1 CFNetwork/1.0 Darwin/24'), 'ios');
  assert.equal(deviceOf('okhttp/4.9.0'), 'android');
  assert.equal(deviceOf('Mozilla/5.0 (Linux; Android 15)'), 'android');
  assert.equal(deviceOf('Mozilla/5.0 (X11; Linux x86_64)'), 'web');
  assert.equal(deviceOf('curl/8.5.0'), null);
  const isBot = (agent: string | undefined) => of('publishable', agent).isBot;
  assert.deepEqual(['Googlebot/2.1', 'Go-http-client/2.0', 'scrapy'].map(isBot), [
    true,
    true,
    true,
  ]);
  for (const person of [undefined, '', 'curl/8.5.0', 'Googlebot/2.1 (iPhone; iOS 18)'])
    assert.equal(isBot(person), false, person);
});
