import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { createReelfeed } from './client.ts';
import { startEventService } from './event-service.fixture.ts';

const { service, stored, startSender, like } = await startEventService();
const made = /^[0-9a-f-]{36}$/;

test('events get a device and a session by default', async (context) => {
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

test('a signature goes with its user and with nobody else, also to events that waited for the login', async (context) => {
  const { body } = await service.call('POST', '/v1/viewer-keys', { body: { name: 'App' } });
  const sign = (userId: string) => createHmac('sha256', body.data.key).update(userId).digest('hex');
  const { sender } = startSender(context);
  sender.track(like());
  sender.identify('ada', sign('ada'));
  sender.track(like());
  sender.track(like({ userId: 'bob' }));
  sender.identify('cleo');
  sender.track(like());
  await sender.flush();
  const given = startSender(context, { userId: 'dee', userSignature: sign('dee') });
  given.sender.track(like());
  await given.sender.flush();
  const kept = await stored.fresh();
  assert.deepEqual(
    kept.map(({ userId, vouched }) => [userId, vouched]),
    [
      ['ada', true],
      ['ada', true],
      ['bob', undefined],
      ['cleo', undefined],
      ['dee', true],
    ],
  );
});

test('feed and configuration are asked for with the signature of the user', async () => {
  const { url: baseUrl, publishableKey } = service;
  await service.call('PATCH', '/v1/organization', { body: { requireSignedViewers: true } });
  const asked: (string | null)[] = [];
  const recording: typeof fetch = (input, init) => {
    asked.push(new Headers(init?.headers).get('x-viewer-signature'));
    return fetch(input, init);
  };
  const viewer = { baseUrl, publishableKey, userId: 'ada', fetch: recording };
  await createReelfeed({ ...viewer, userSignature: 'f'.repeat(64) }).feed();
  await createReelfeed({ ...viewer, userSignature: 'f'.repeat(64) }).config();
  await createReelfeed(viewer).feed();
  assert.deepEqual(asked, ['f'.repeat(64), 'f'.repeat(64), null]);
});
