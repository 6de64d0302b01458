/** An app's event queue survives restarts and loses nothing, tested against a real service. */
import { strict as assert } from 'node:assert';
import { after, test } from 'node:test';
import { createItem } from '../../server/test/seed.ts';
import { eventually, startService } from '../../server/test/service.ts';
import { openStoredEvents } from '../../server/test/stored-events.ts';
import { type AppStorage } from './app-storage.ts';
import { openConnection, type Connection, type ConnectionOptions } from './connection.ts';
import { EventGate } from './event-gate.ts';
import { FeedModel } from './feed-model.ts';
import { createPlayableItems } from './playable-items.fixture.ts';

const service = await startService({ REELFEED_ROLES: 'api' });
const stored = await openStoredEvents(service);

/** An asynchronous storage like a phone's. */
function slowStorage(): AppStorage & { readonly texts: Map<string, string> } {
  const texts = new Map<string, string>();
  const later = () => new Promise<void>((resolve) => setImmediate(resolve));
  return {
    texts,
    getItem: async (name) => later().then(() => texts.get(name) ?? null),
    setItem: async (name, value) => later().then(() => void texts.set(name, value)),
    removeItem: async (name) => later().then(() => void texts.delete(name)),
  };
}

const opened: Connection[] = [];
after(() => Promise.all(opened.map((connection) => connection.close())));

async function connect(options: Partial<ConnectionOptions> = {}): Promise<Connection> {
  const { url: baseUrl, publishableKey } = service;
  const connection = await openConnection({ baseUrl, publishableKey, device: 'ios', ...options });
  opened.push(connection);
  return connection;
}

test('events of an app that ends without a connection are sent by its next start, once', async () => {
  const storage = slowStorage();
  const { id: contentId } = await createItem(service);
  const offline = await connect({ baseUrl: 'http://127.0.0.1:1', storage });
  const eventId = offline.track({ event: 'like', contentId });
  await offline.save();
  const text = storage.texts.get('reelfeed.events') ?? '';
  assert.match(text, new RegExp(eventId));
  // Simulates a kill: nothing is closed. The app restarts online.
  const online = await connect({ storage });
  await online.flush();
  await online.close();
  assert.equal(storage.texts.has('reelfeed.events'), false);
  const again = await connect({ storage: { ...storage, getItem: async () => text } });
  await again.close();
  await offline.close();
  const likes = await eventually('the like', async () => {
    const events = (await stored.all()).filter((event) => event.contentId === contentId);
    return events.length > 0 ? events : null;
  });
  assert.deepEqual(
    likes.map((event) => event.eventId),
    [eventId],
  );
});

test('the device keeps its id, and each user has separate marks', async () => {
  const storage = slowStorage();
  const [id = ''] = await createPlayableItems(service, 1);
  const first = await connect({ storage });
  const model = new FeedModel(first);
  await model.open();
  const slide = model.state.slides.find((one) => one.id === id);
  assert(slide !== undefined);
  assert.equal(model.toggleLike(slide), true);
  await first.close();
  const second = await connect({ storage });
  assert.equal(second.likes.has(id), true);
  second.identify('ada');
  assert.equal(second.likes.has(id), false);
  second.identify(null);
  assert.equal(second.likes.has(id), true);
  await second.close();
  model.close();
  const devices = (await stored.all())
    .filter(({ contentId }) => contentId === id)
    .map(({ deviceId }) => deviceId);
  assert.deepEqual(new Set(devices), new Set([storage.texts.get('reelfeed.device')]));
});

test('a storage that fails is reported, and everything works without it', async () => {
  const failures: unknown[] = [];
  const fails = async (): Promise<never> => {
    throw new Error('The disk is full.');
  };
  const storage = { getItem: fails, setItem: fails, removeItem: fails };
  const { id: contentId } = await createItem(service);
  const connection = await connect({ storage, onStorageError: (error) => failures.push(error) });
  connection.track({ event: 'save', contentId });
  await connection.flush();
  assert.equal(connection.counts.received, 1);
  await connection.close();
  assert(failures.length >= 3, `${failures.length}`);
});

test('a secret key is refused', async () => {
  await assert.rejects(connect({ publishableKey: service.secretKey }), /Secret keys/);
});

test('events tracked before the storage was read are sent in order', () => {
  const gate = new EventGate();
  gate.track({ event: 'like', contentId: 'a' });
  const sent: string[] = [];
  gate.open(({ event }) => sent.push(event));
  gate.track({ event: 'unlike', contentId: 'a' });
  gate.close();
  gate.track({ event: 'like', contentId: 'a' });
  assert.deepEqual(sent, ['like', 'unlike']);
  gate.open(({ event }) => sent.push(event));
  assert.deepEqual(sent, ['like', 'unlike', 'like']);
});
