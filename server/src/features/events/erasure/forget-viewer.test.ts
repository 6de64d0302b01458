import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forgetUser } from './forget-viewer.ts';
import type { LoggedEvent } from '../logged-event.ts';

function event(fields: Partial<LoggedEvent>): LoggedEvent {
  return { eventId: 'e', event: 'like', contentId: 'c', at: 1, userId: 'bob', data: {}, ...fields };
}

test("the user's own event is gone, whatever else it holds", () => {
  assert.equal(forgetUser(event({ userId: 'ada' }), 'ada'), null);
});

test('an event that does not name the user stays the same object', () => {
  for (const data of [{}, { note: 'ada2' }, { ada: 1 }, { list: [1, null, 'Ada', { a: true }] }]) {
    const given = event({ data });
    assert.equal(forgetUser(given, 'ada'), given);
  }
  const numbers = event({ data: { position: 5 } });
  assert.equal(forgetUser(numbers, '5'), numbers, 'a number is not an id');
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
  assert.deepEqual(forgetUser(given, 'ada'), {
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
      ada: 1,
    },
  });
  assert.deepEqual(given, before, 'the event itself is not changed');
});

test('a user whose id is the replacement is forgotten as well', () => {
  const forgotten = forgetUser(event({ data: { platform: 'erased' } }), 'erased');
  assert.deepEqual(forgotten?.data, { platform: 'removed' });
});
