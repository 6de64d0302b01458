import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startEventService } from './event-service.fixture.ts';

const { stored, startSender, like } = await startEventService();
const made = /^[0-9a-f-]{36}$/;

test('events have a device and a session without being told', async (context) => {
  const { sender } = startSender(context, { sessionId: undefined });
  sender.track(like());
  sender.track(like());
  await sender.flush();
  const [first, second] = await stored.fresh();
  assert.match(first?.deviceId ?? '', made);
  assert.match(first?.sessionId ?? '', made);
  assert.equal(first?.userId, undefined);
  assert.deepEqual([first?.deviceId, first?.sessionId], [second?.deviceId, second?.sessionId]);
});

test('null leaves an id out, and given ids stay', async (context) => {
  const { sender } = startSender(context, { deviceId: null, sessionId: null, userId: 'ada' });
  sender.track(like());
  await sender.flush();
  const [kept] = await stored.fresh();
  assert.deepEqual([kept?.userId, kept?.deviceId, kept?.sessionId], ['ada', undefined, undefined]);
});

test('one viewer before and after the login, where nothing was sent before', async (context) => {
  const { sender } = startSender(context);
  sender.track(like());
  sender.track(like({ userId: 'bob' }));
  sender.identify('ada');
  sender.track(like());
  await sender.flush();
  const kept = await stored.fresh();
  assert.deepEqual(
    kept.map(({ userId }) => userId),
    ['ada', 'bob', 'ada'],
  );
  assert.equal(new Set(kept.map(({ deviceId }) => deviceId)).size, 1);
  assert.equal(new Set(kept.map(({ sessionId }) => sessionId)).size, 1);
});

test('another user gets another session, and events before stay with the first', async (context) => {
  const { sender } = startSender(context, { sessionId: undefined });
  sender.identify('ada');
  sender.track(like());
  sender.identify('bob');
  sender.track(like());
  sender.identify(null);
  sender.track(like());
  await sender.flush();
  const kept = await stored.fresh();
  assert.deepEqual(
    kept.map(({ userId }) => userId),
    ['ada', 'bob', undefined],
  );
  assert.equal(new Set(kept.map(({ sessionId }) => sessionId)).size, 3);
  assert.equal(new Set(kept.map(({ deviceId }) => deviceId)).size, 1);
});
