/** Tests what happens to queued events: limits, storage, and closing a sender. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { eventually, temporaryFolder } from '../../server/test/service.ts';
import { type EventStorage, type TrackedEvent } from './client.ts';
import { startEventService } from './event-service.fixture.ts';
import { startRelay } from './relay.fixture.ts';
import { pause } from '../../server/test/waiting.ts';

const { service, stored, storedIds, startSender, like } = await startEventService();
const unreachable = 'http://127.0.0.1:9';

/** An event storage in a file, as an app in Node would use it. */
async function fileStorage(): Promise<EventStorage & { text(): string }> {
  const file = path.join(await temporaryFolder(), 'events');
  const text = () => (existsSync(file) ? readFileSync(file, 'utf8') : '');
  return { load: text, save: (saved) => writeFileSync(file, saved), text };
}

test('if too many events are waiting, the oldest are dropped, counted and reported', async (context) => {
  const { sender, dropped } = startSender(context, { baseUrl: unreachable, maxWaiting: 5 });
  const ids = Array.from({ length: 8 }, () => sender.track(like()));
  assert.deepEqual(sender.counts, { waiting: 5, received: 0, refused: 0, dropped: 3 });
  await Promise.resolve();
  assert.deepEqual(
    dropped.map(({ eventId }) => eventId),
    ids.slice(0, 3),
  );
  const large = Array.from({ length: 5 }, () => like({ data: { note: 'x'.repeat(1024 * 1024) } }));
  for (const event of large) sender.track(event);
  assert.equal(sender.counts.waiting, 1, 'at most 2 MiB wait');
});

test('events in flight are not dropped', async (context) => {
  let answer = (): void => {};
  const held = new Promise<void>((resolve) => (answer = resolve));
  const relay = await startRelay(service.url, (count) =>
    count === 1 ? (response) => void held.then(() => response.destroy()) : 'pass',
  );
  const { sender, dropped } = startSender(context, { baseUrl: relay.url, maxWaiting: 2 });
  const ids = [sender.track(like()), sender.track(like())];
  const flushed = sender.flush();
  await eventually('the request', async () => (relay.requests.length === 1 ? true : null));
  const late = sender.track(like());
  answer();
  await flushed;
  await Promise.resolve();
  assert.deepEqual(
    dropped.map(({ eventId }) => eventId),
    [late],
  );
  assert.deepEqual(await storedIds(), ids);
});

test('the next sender sends what a storage kept, with its ids and times', async (context) => {
  const storage = await fileStorage();
  const first = startSender(context, { baseUrl: unreachable, storage });
  const ids = [first.sender.track(like()), first.sender.track(like())];
  await first.sender.close();
  const kept = storage.text();
  assert.deepEqual(first.dropped, []);
  await pause(30, 'the kept events grow older');
  // A truncated line, and one that is not an event.
  storage.save(`${kept}\n{"eventId":"hal\n[5]`);
  const second = startSender(context, { storage });
  assert.equal(second.sender.counts.waiting, 2);
  await second.sender.flush();
  const arrived = await stored.fresh();
  assert.deepEqual(
    arrived.map(({ eventId, at }) => [eventId, new Date(at).toISOString()]),
    kept.split('\n').map((line) => {
      const { eventId, timestamp } = JSON.parse(line) as TrackedEvent;
      return [eventId, timestamp];
    }),
  );
  assert.deepEqual(
    arrived.map(({ eventId }) => eventId),
    ids,
  );
  await second.sender.close();
  assert.equal(storage.text(), '');
  // The first sender's copy again, as after a crash between response and saving.
  storage.save(kept);
  const third = startSender(context, { storage });
  await third.sender.flush();
  assert.equal(third.sender.counts.received, 2);
  assert.deepEqual(await storedIds(), []);
});

test('the storage follows by itself within a second, also a sender that never ends', async (context) => {
  const storage = await fileStorage();
  const { sender } = startSender(context, { storage, batchInterval: 1_500 });
  const id = sender.track(like());
  await eventually('the event to be kept', async () => (storage.text().includes(id) ? true : null));
  await eventually('nothing to be kept', async () => (storage.text() === '' ? true : null));
  assert.deepEqual(await storedIds(), [id]);
});

test('a storage that fails is reported, and events are sent nevertheless', async (context) => {
  const errors: unknown[] = [];
  const { sender } = startSender(context, {
    storage: {
      load: () => assert.fail('forbidden'),
      save: () => assert.fail('full'),
    },
    onStorageError: (error) => errors.push(error),
  });
  const id = sender.track(like());
  await sender.close();
  assert.deepEqual(await storedIds(), [id]);
  assert.match(errors.join(), /forbidden.*full/);
});

test('close sends waiting events; without storage and response they are dropped, as are later events', async (context) => {
  const { sender, dropped } = startSender(context);
  const id = sender.track(like());
  await sender.close();
  assert.deepEqual(await storedIds(), [id]);
  const late = sender.track(like());
  await assert.rejects(sender.flush(), /closed/);
  assert.equal(dropped[0]?.eventId, late);
  const lost = startSender(context, { baseUrl: unreachable });
  const given = lost.sender.track(like());
  const flushed = lost.sender.flush();
  await Promise.all([assert.rejects(flushed, /closed/), lost.sender.close()]);
  assert.deepEqual(
    lost.dropped.map(({ eventId }) => eventId),
    [given],
  );
});

test('flush waits for events tracked before it, and can be aborted', async (context) => {
  const { sender } = startSender(context, { baseUrl: unreachable });
  await sender.flush();
  sender.track(like());
  const controller = new AbortController();
  const flushed = sender.flush(controller.signal);
  const reason = new Error('the app ends');
  const aborting = pause(50, 'the flush is under way').then(() => controller.abort(reason));
  await assert.rejects(flushed, reason);
  await aborting;
  assert.equal(sender.counts.waiting, 1);
});

test('an error of the app’s own function does not stop the sender', async (context) => {
  const thrown: unknown[] = [];
  process.setUncaughtExceptionCaptureCallback((error) => thrown.push(error));
  context.after(() => process.setUncaughtExceptionCaptureCallback(null));
  const { sender } = startSender(context, { onRefused: () => assert.fail('a fault of the app') });
  sender.track(like({ contentId: 'no-such-item' }));
  await sender.flush();
  const id = sender.track(like());
  await sender.flush();
  assert.deepEqual(await storedIds(), [id]);
  assert.match(String(thrown[0]), /a fault of the app/);
});
