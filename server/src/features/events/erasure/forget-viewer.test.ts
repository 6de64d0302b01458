import assert from 'node:assert/strict';
import { test } from 'node:test';
import { erasedId, forgetUser, mayName } from './forget-viewer.ts';
import type { LoggedEvent } from '../logged-event.ts';

function event(fields: Partial<LoggedEvent>): LoggedEvent {
  return { eventId: 'e', event: 'like', contentId: 'c', at: 1, userId: 'bob', data: {}, ...fields };
}

const forget = (given: LoggedEvent, userId: string) =>
  forgetUser(given, erasedId(userId, 'replacement'));

test("the user's own event is gone, whatever else it holds", () => {
  assert.equal(forget(event({ userId: 'ada' }), 'ada'), null);
});

test('an event that does not name the user stays the same object', () => {
  for (const data of [{}, { note: 'ada2' }, { ada2: 1 }, { list: [1, null, 'Ada', { a: true }] }]) {
    const given = event({ data });
    assert.equal(forget(given, 'ada'), given);
  }
  assert.equal(mayName('[{"at":184700931,"b":"84700931.5"}]', erasedId('84700931', '')), false);
});

test('an id is found as a number and as a key', () => {
  const given = event({
    data: { user_id: 84_700_931, seen: { 84700931: [84_700_931], other: 847_009_310 } },
  });
  assert.ok(mayName(JSON.stringify([given]), erasedId('84700931', '')));
  assert.deepEqual(forget(given, '84700931')?.data, {
    user_id: 'erased',
    seen: { erased: ['erased'], other: 847_009_310 },
  });
  const rounded = JSON.parse('{"id":175928847299117063}') as LoggedEvent['data'];
  assert.deepEqual(forget(event({ data: rounded }), '175928847299117063')?.data, { id: 'erased' });
  const both = event({ data: { erased: 1, ada: 2 } });
  assert.deepEqual(forget(both, 'ada')?.data, { erased: 1, erased_: 2 }, 'no value is lost');
});

test('what cannot name a viewer stays', () => {
  const impression = { position: 5, entryPoint: 'feed', feedId: 'f' };
  for (const [kind, data, ids] of [
    ['impression', impression, ['5', 'feed', 'position']],
    ['playStart', { startupTime: 5, rendition: '720p', codec: 'h264' }, ['5', '720p', 'h264']],
    ['error', { errorCode: '404', errorMessage: '' }, ['404']],
    ['swipe', { fromContentId: 'item', watchTimeOnFrom: 1 }, ['item', '1']],
  ] as const) {
    const given = event({ event: kind, data });
    for (const id of ids) assert.equal(forget(given, id), given, `${kind} ${id}`);
  }
});

test('fields of other names, and of other shapes, are replaced', () => {
  const given = event({
    eventId: 'ada',
    event: 'error',
    appVersion: 'ada',
    data: { errorCode: 'ada', errorMessage: 'ada', entryPoint: 'ada', viewId: 5 },
  });
  assert.deepEqual(forget(given, 'ada'), {
    ...given,
    eventId: 'replacement',
    appVersion: 'erased',
    data: { errorCode: 'erased', errorMessage: 'erased', entryPoint: 'erased', viewId: 5 },
  });
  assert.equal(forget(event({ data: { viewId: 5 } }), '5')?.data['viewId'], 'erased');
});

test('the id is replaced wherever it stands as a value, and nothing else changes', () => {
  const given = event({
    deviceId: 'ada',
    sessionId: 's1',
    data: {
      platform: 'ada',
      context: { traits: { userId: 'ada', name: 'Bob' } },
      list: ['ada', ['ada'], { id: 'ada' }, 'bob'],
      ada: 1,
    },
  });
  const before = structuredClone(given);
  assert.deepEqual(forget(given, 'ada'), {
    eventId: 'e',
    event: 'like',
    contentId: 'c',
    at: 1,
    userId: 'bob',
    sessionId: 's1',
    data: {
      platform: 'erased',
      context: { traits: { userId: 'erased', name: 'Bob' } },
      list: ['erased', ['erased'], { id: 'erased' }, 'bob'],
      erased: 1,
    },
  });
  assert.deepEqual(given, before, 'the event itself is not changed');
});

test('a user whose id is the replacement is forgotten as well', () => {
  const forgotten = forget(event({ data: { platform: 'erased' } }), 'erased');
  assert.deepEqual(forgotten?.data, { platform: 'removed' });
});
