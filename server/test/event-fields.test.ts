/** Tests which events are accepted, and that a rejection names the problem. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { eventKinds, type EventKind } from '../src/features/events/events.ts';
import { startEventService } from './event-judge.ts';
import { newUuid7 } from '../src/platform/values/uuid7.ts';

const { service, stored, otherId, sendOne, event, judge } = await startEventService();

describe('an event of each kind', () => {
  for (const kind of eventKinds) {
    test(`${kind} is stored as sent`, async () => {
      await stored.fresh();
      const sent = event(kind, {
        data: { ...(event(kind)['data'] as object), own: { a: [1, 'ü'] } },
      });
      const { status, body, text } = await sendOne(sent);
      assert.equal(status, 200, text);
      assert.deepEqual(body.data, { received: true, eventId: sent['eventId'] });
      const { timestamp, ...rest } = sent;
      const [kept, ...others] = await stored.fresh();
      assert.deepEqual(others, []);
      assert.deepEqual(kept, { ...rest, at: Date.parse(String(timestamp)) });
    });
  }
});

describe('impossible values', () => {
  const progress = (data: object) => event('watchProgress', { data });

  test('a position beyond the end is rejected, except for rounding', async () => {
    const problem = await judge(progress({ currentTime: 900, duration: 10 }));
    assert.equal(problem?.code, 'VALIDATION_ERROR');
    assert.equal(
      problem?.message,
      'data.currentTime: must not exceed data.duration by more than 5 % and 2 seconds',
    );
    assert.equal(await judge(progress({ currentTime: 12.5, duration: 10 })), null);
    assert.equal(await judge(progress({ currentTime: 900, duration: 0 })), null, 'unknown length');
  });

  test('positions of a live stream are not checked', async () => {
    const created = await service.call('POST', '/v1/live-streams', {
      key: service.secretKey,
      body: { title: 'Live' },
    });
    assert.equal(created.status, 201, created.text);
    const { contentId: liveId } = created.body.data;
    const fields = { contentId: liveId, data: { currentTime: 900, duration: 10 } };
    assert.equal(await judge(event('watchProgress', fields)), null);
  });

  test('a watch time of more than a week is rejected', async () => {
    for (const raw of [
      progress({ currentTime: 1, duration: 10, watchTime: 9e8 }),
      event('completion', { data: { watchTime: 604_801, looped: true } }),
      event('swipe', { data: { fromContentId: otherId, watchTimeOnFrom: 9e8 } }),
    ]) {
      const problem = await judge(raw);
      assert.equal(problem?.code, 'VALIDATION_ERROR');
      assert.match(problem?.message ?? '', /must be a number of seconds from 0 to 604,800/);
    }
    assert.equal(
      await judge(event('completion', { data: { watchTime: 604_800, looped: true } })),
      null,
    );
  });

  test('a swipe may state its watch time outside `data`', async () => {
    const { data: _, ...swipe } = event('swipe');
    assert.equal(await judge({ ...swipe, fromContentId: otherId, watchTime: 2 }), null);
  });
});

const wrong: Record<string, unknown[]> = {
  'whole number': ['5', 1.5, -1, null, true, {}, [], 1e10],
  number: ['5', -0.1, null, false, {}, [], 1e10],
  percent: ['5', -0.1, null, false, {}, [], 100.1, 5_000],
  text: ['', 5, null, true, {}, []],
  'any text': [5, null, true, {}, []],
  scope: ['', 'place', 5, null, true, {}, []],
  flag: ['true', 0, null, {}],
  'content id': ['', 5, null, 'no-id', newUuid7(), randomUUID()],
};
const fieldTypes: Record<EventKind, Record<string, [type: string, required: boolean]>> = {
  impression: {
    position: ['whole number', true],
    entryPoint: ['text', false],
    feedId: ['text', false],
  },
  playStart: {
    startupTime: ['whole number', true],
    rendition: ['text', false],
    codec: ['text', false],
    autoplay: ['flag', false],
  },
  watchProgress: {
    currentTime: ['number', true],
    duration: ['number', true],
    percentComplete: ['percent', false],
    rendition: ['text', false],
    watchTime: ['number', false],
  },
  completion: {
    watchTime: ['number', true],
    looped: ['flag', true],
    loopCount: ['whole number', false],
  },
  swipe: {
    fromContentId: ['content id', true],
    watchTimeOnFrom: ['number', true],
    direction: ['text', false],
  },
  like: {},
  unlike: {},
  share: { platform: ['text', true] },
  save: {},
  unsave: {},
  notInterested: { scope: ['scope', true], undo: ['flag', false] },
  report: { reason: ['text', true], undo: ['flag', false] },
  rebuffer: {
    duration: ['whole number', true],
    currentTime: ['number', true],
    rendition: ['text', false],
  },
  qualityChange: { fromQuality: ['text', true], toQuality: ['text', true] },
  error: { errorCode: ['text', true], errorMessage: ['any text', true] },
};

describe('fields of data', () => {
  for (const kind of eventKinds) {
    for (const [name, [type, required]] of Object.entries(fieldTypes[kind])) {
      const data = event(kind)['data'] as Record<string, unknown>;
      test(`${kind} ${required ? 'needs' : 'does without'} ${name}`, async () => {
        const { [name]: _, ...rest } = data;
        const problem = await judge(event(kind, { data: rest }));
        if (!required) assert.equal(problem, null);
        else {
          assert.equal(problem?.code, 'VALIDATION_ERROR');
          assert.match(problem?.message ?? '', new RegExp(`^data\\.${name}: is required`));
        }
      });
      test(`${kind}: ${name} of a wrong type is rejected`, async () => {
        for (const value of wrong[type] ?? []) {
          const problem = await judge(event(kind, { data: { ...data, [name]: value } }));
          const what = `${name}: ${JSON.stringify(value)}`;
          const isUnknownItem = type === 'content id' && typeof value === 'string' && value !== '';
          assert.equal(problem?.code, isUnknownItem ? 'NOT_FOUND' : 'VALIDATION_ERROR', what);
          assert.match(problem?.message ?? '', new RegExp(`^data\\.${name}: `), what);
        }
      });
    }
  }
});

describe('a rejected event names its problem and does not affect the others', () => {
  const large = { text: 'x'.repeat(8_200) };
  const nested = (levels: number): unknown => (levels === 1 ? {} : { a: nested(levels - 1) });
  const cases: Record<string, [raw: unknown, code: string | null, message?: RegExp]> = {
    'no event': [event('like', { event: undefined }), 'VALIDATION_ERROR', /^event: is required/],
    'an event that is not text': [event('like', { event: 5 }), 'VALIDATION_ERROR', /^event: /],
    'an event that is an odd object': [
      event('like', { event: { toString: 5, valueOf: 5 } }),
      'VALIDATION_ERROR',
    ],
    'an unknown kind': [
      event('like', { event: 'view' }),
      'UNKNOWN_EVENT',
      /^event: must be one of .*"like"/,
    ],
    'a kind in the wrong case': [event('like', { event: 'Like' }), 'UNKNOWN_EVENT'],
    'an inherited name as the kind': [event('like', { event: 'constructor' }), 'UNKNOWN_EVENT'],
    'no contentId': [
      event('like', { contentId: undefined }),
      'VALIDATION_ERROR',
      /^contentId: is required/,
    ],
    'a contentId that is not text': [event('like', { contentId: 5 }), 'VALIDATION_ERROR'],
    'a contentId that is null': [event('like', { contentId: null }), 'VALIDATION_ERROR'],
    'an empty contentId': [event('like', { contentId: '' }), 'NOT_FOUND', /^contentId: /],
    'a malformed contentId': [event('like', { contentId: 'clip-1' }), 'NOT_FOUND'],
    'a contentId with NUL': [event('like', { contentId: 'a\0' }), 'NOT_FOUND'],
    'an unknown contentId': [event('like', { contentId: newUuid7() }), 'NOT_FOUND'],
    'an item that is null': [null, 'VALIDATION_ERROR'],
    'an item that is a number': [5, 'VALIDATION_ERROR'],
    'an item that is a text': ['like', 'VALIDATION_ERROR'],
    'an item that is an array': [[event()], 'VALIDATION_ERROR'],
    'an empty object': [{}, 'VALIDATION_ERROR'],
    'data that is not an object': [event('like', { data: [] }), 'VALIDATION_ERROR', /^data: /],
    'data that is null': [event('like', { data: null }), 'VALIDATION_ERROR', /^data: /],
    'no data where it is needed': [
      event('impression', { data: undefined }),
      'VALIDATION_ERROR',
      /^data\.position/,
    ],
    'no data where it is not needed': [event('like', { data: undefined }), null],
    'data over 8 KiB': [event('like', { data: large }), 'VALIDATION_ERROR', /^data: .*8192 bytes/],
    'data of 8 KiB': [event('like', { data: { text: 'x'.repeat(8_192 - 11) } }), null],
    'data of 8 KiB and a byte': [
      event('like', { data: { text: 'x'.repeat(8_192 - 10) } }),
      'VALIDATION_ERROR',
    ],
    'data of 8 KiB in letters of three bytes': [
      event('like', { data: { text: '€'.repeat(2_800) } }),
      'VALIDATION_ERROR',
    ],
    'data of 8 levels': [event('like', { data: nested(8) }), null],
    'data of 9 levels': [event('like', { data: nested(9) }), 'VALIDATION_ERROR', /8 levels/],
    'NUL in data': [
      event('like', { data: { a: { b: ['x\0'] } } }),
      'VALIDATION_ERROR',
      /^data\.a\.b\[0\]: .*NUL/,
    ],
    'NUL in a key of data': [event('like', { data: { 'a\0': 1 } }), 'VALIDATION_ERROR', /NUL/],
    'a lone surrogate in data': [
      event('like', { data: { a: 'x\ud800' } }),
      'VALIDATION_ERROR',
      /^data\.a: .*lone surrogate/,
    ],
    'a lone surrogate in userId': [
      event('like', { userId: '\udc00' }),
      'VALIDATION_ERROR',
      /^userId: .*lone surrogate/,
    ],
    'NUL in eventId': [event('like', { eventId: 'a\0b' }), 'VALIDATION_ERROR', /^eventId: .*NUL/],
    'an emoji': [event('like', { userId: '\u{1F3AC}', data: { a: '\u{1F3AC}' } }), null],
    'an empty eventId': [event('like', { eventId: '' }), 'VALIDATION_ERROR', /^eventId: /],
    'an eventId that is a number': [event('like', { eventId: 5 }), 'VALIDATION_ERROR'],
    'an eventId of 129 characters': [
      event('like', { eventId: newUuid7() + 'x'.repeat(93) }),
      'VALIDATION_ERROR',
    ],
    'an eventId of 128 characters of four bytes': [
      event('like', { eventId: `${newUuid7()}${'\u{1F3AC}'.repeat(92)}` }),
      null,
    ],
    'an empty userId': [event('like', { userId: '' }), 'VALIDATION_ERROR', /^userId: /],
    'a userId that is a number': [event('like', { userId: 5 }), 'VALIDATION_ERROR'],
    'a deviceId that is an object': [event('like', { deviceId: {} }), 'VALIDATION_ERROR'],
    'a sessionId of 257 characters': [
      event('like', { sessionId: 'x'.repeat(257) }),
      'VALIDATION_ERROR',
    ],
    'a version of the app': [event('like', { appVersion: '2.4.1 (build 77)' }), null],
    'an appVersion that is a number': [
      event('like', { appVersion: 2 }),
      'VALIDATION_ERROR',
      /^appVersion: /,
    ],
    'an appVersion of 65 characters': [
      event('like', { appVersion: 'x'.repeat(65) }),
      'VALIDATION_ERROR',
      /^appVersion: /,
    ],
    'a country that does not exist': [
      event('like', { country: 'ZZ' }),
      'VALIDATION_ERROR',
      /^country: must be an ISO 3166-1 alpha-2 country code/,
    ],
    'unknown fields': [
      event('like', { app: { version: 5 }, country: 'Germany', device: 'tv' }),
      null,
    ],
    'fields of other kinds': [event('like', { data: { position: 'first' } }), null],
    'a timestamp that is not text': [event('like', { timestamp: 5 }), 'VALIDATION_ERROR'],
    'a timestamp without offset': [
      event('like', { timestamp: '2026-01-31T12:00:00' }),
      'VALIDATION_ERROR',
      /^timestamp: /,
    ],
    '30 February': [event('like', { timestamp: '2026-02-30T12:00:00.000Z' }), 'VALIDATION_ERROR'],
    '29 February of no leap year': [
      event('like', { timestamp: '2026-02-29T12:00:00.000Z' }),
      'VALIDATION_ERROR',
    ],
    '31 April': [event('like', { timestamp: '2026-04-31T12:00:00.000Z' }), 'VALIDATION_ERROR'],
    'a leap second': [event('like', { timestamp: '2026-06-30T23:59:60.000Z' }), 'VALIDATION_ERROR'],
    'the hour 24': [event('like', { timestamp: '2026-06-30T24:00:00.000Z' }), 'VALIDATION_ERROR'],
    'a date': [event('like', { timestamp: '2026-06-30' }), 'VALIDATION_ERROR'],
    'a year of five digits': [
      event('like', { timestamp: '+12026-06-30T00:00:00Z' }),
      'VALIDATION_ERROR',
    ],
    'an old year': [event('like', { timestamp: '1969-12-31T00:00:00.000Z' }), 'EVENT_TOO_OLD'],
    '29 February of a leap year': [
      event('like', { timestamp: '2024-02-29T12:00:00.000Z' }),
      'EVENT_TOO_OLD',
    ],
  };
  for (const [name, [raw, code, message]] of Object.entries(cases)) {
    test(name, async () => {
      const problem = await judge(raw);
      assert.equal(problem?.code ?? null, code, problem?.message);
      if (message !== undefined) assert.match(problem?.message ?? '', message);
    });
  }
});
