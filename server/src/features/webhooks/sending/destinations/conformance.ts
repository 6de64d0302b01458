/** The conformance suite for all drivers. See `destinations.test.ts`. */
import assert from 'node:assert/strict';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';
import { test } from 'node:test';
import { atEnd } from '../../../../../test/database.ts';
import { eventually } from '../../../../../test/waiting.ts';
import { parseAllowList } from '../../../../platform/egress/allow-list.ts';
import { createEgress } from '../../../../platform/egress/egress.ts';
import { newTypeId } from '../../../../platform/values/ids.ts';
import { OutdatedStateError } from '../../endpoints/endpoint-changes.ts';
import type { Credentials, Destination } from './destination.ts';
import type { Message, SendOptions, Target } from './driver.ts';
import { createDrivers } from './drivers.ts';

/** A real server and its contents. */
export type Subject = {
  readonly port: number;
  /** The URL of a webhook that reaches it at a port. */
  readonly url: (port: number) => string;
  readonly destination: Destination;
  readonly credentials: Credentials;
  /** Messages received so far. Headers are null if the destination has none. */
  readonly received: () => Promise<readonly { id: string; body: string; headers: object | null }[]>;
  /** Number of copies that arrive if one message is sent twice. */
  readonly repeats: 1 | 2;
  /** A destination on the same server that accepts nothing, and the resulting failure. */
  readonly closed: { destination: Destination; failure: string | number };
  /** Credentials that the server rejects, and the resulting failure; null if it rejects none. */
  readonly refused: { credentials: Credentials; failure: string | number } | null;
};

const egress = createEgress({ allow: parseAllowList(['127.0.0.0/8']) });
atEnd(() => egress[Symbol.asyncDispose]());
const drivers = createDrivers(egress);
atEnd(() => drivers[Symbol.asyncDispose]());

function newMessage(): Message {
  const deliveryId = newTypeId('dlv');
  return {
    deliveryId,
    kind: 'content.ready',
    timestamp: '2026-01-31T12:00:00.000Z',
    headers: { 'content-type': 'application/json', 'webhook-id': deliveryId },
    body: JSON.stringify({ data: { title: 'Überfluss 🎬', lines: 'a\nb' } }),
  };
}

/** Sends and returns the result: a status, `confirmed`, or the failure. */
async function send(target: Target, message: Message, options: Partial<SendOptions> = {}) {
  const signal = new AbortController().signal;
  const all = { timeoutMs: 20_000, signal, onBegin: () => undefined, ...options };
  try {
    return (await drivers.send(target, message, all)).statusCode ?? 'confirmed';
  } catch (error) {
    if (error instanceof Error && 'failure' in error) return error.failure;
    throw error;
  }
}

export function testDestination(name: string, subject: Subject): void {
  const { destination, credentials, received, url } = subject;
  const at = (port: number, changes: Partial<Target> = {}): Target => ({
    organizationId: 'org',
    webhookId: newTypeId('whk'),
    url: url(port),
    destination,
    credentials,
    ...changes,
  });
  const isSent = (outcome: unknown) =>
    outcome === 'confirmed' || outcome === 200 || outcome === 204;
  const arrived = async ({ deliveryId }: Message) =>
    (await received()).filter(({ id }) => id === deliveryId);

  test(`${name}: the exact body and the headers arrive`, async () => {
    const target = at(subject.port);
    const messages = Array.from({ length: 20 }, newMessage);
    const outcomes = await Promise.all(messages.map((message) => send(target, message)));
    assert.ok(outcomes.every(isSent), outcomes.join());
    for (const message of messages) {
      const [found] = await arrived(message);
      assert.equal(found?.body, message.body);
      if (found.headers === null) continue;
      for (const [header, value] of Object.entries(message.headers)) {
        assert.equal(Reflect.get(found.headers, header), value, header);
      }
    }
  });

  test(`${name}: a repeat has the same id`, async () => {
    const target = at(subject.port);
    const message = newMessage();
    assert.ok(isSent(await send(target, message)));
    assert.ok(isSent(await send(target, message)));
    assert.equal((await arrived(message)).length, subject.repeats);
  });

  test(`${name}: nothing is sent if \`onBegin\` throws`, async () => {
    const message = newMessage();
    const onBegin = () => {
      throw new OutdatedStateError();
    };
    await assert.rejects(send(at(subject.port), message, { onBegin }), OutdatedStateError);
    const signal = AbortSignal.abort(new Error('stopped'));
    await assert.rejects(send(at(subject.port), message, { signal }), /stopped/);
    assert.deepEqual(await arrived(message), []);
  });

  test(`${name}: each failure has a specific name`, async () => {
    const unused = await listen(() => undefined);
    await unused.close();
    assert.equal(await send(at(unused.port), newMessage()), 'connection_refused');
    const silent = await listen(() => undefined);
    assert.equal(await send(at(silent.port), newMessage(), { timeoutMs: 500 }), 'timeout');
    const hasty = await listen((socket) => socket.destroy());
    assert.equal(await send(at(hasty.port), newMessage()), 'connection_error');
    const { closed, refused } = subject;
    const to = at(subject.port, { destination: closed.destination });
    assert.equal(await send(to, newMessage()), closed.failure);
    if (refused === null) return;
    const by = at(subject.port, { credentials: refused.credentials });
    assert.equal(await send(by, newMessage()), refused.failure);
  });

  test(`${name}: an address that is not public is rejected`, async () => {
    const strict = createEgress({ allow: parseAllowList([]) });
    const others = createDrivers(strict);
    const options = {
      timeoutMs: 5_000,
      signal: new AbortController().signal,
      onBegin: () => assert.fail('it began'),
    };
    const refusal = { failure: 'blocked_address' };
    await assert.rejects(others.send(at(subject.port), newMessage(), options), refusal);
    await others[Symbol.asyncDispose]();
    await strict[Symbol.asyncDispose]();
  });

  test(`${name}: a broken connection is reopened`, async () => {
    const relay = await startRelay(subject.port);
    const target = at(relay.port);
    assert.ok(isSent(await send(target, newMessage())));
    relay.cut();
    const message = newMessage();
    await eventually('it is sent', async () => isSent(await send(target, message)) || null);
    assert.ok((await arrived(message)).length > 0);
  });
}

async function listen(onConnect: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    onConnect(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const cut = () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  const close = async () => {
    cut();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  };
  atEnd(close);
  return { port, cut, close };
}

/** Forwards everything until its connections are cut. */
async function startRelay(toPort: number) {
  return listen((socket) => {
    const onward = connect(toPort, '127.0.0.1');
    onward.on('error', () => undefined);
    socket.pipe(onward).pipe(socket);
    socket.on('close', () => onward.destroy());
    onward.on('close', () => socket.destroy());
  });
}
