/** Proves that silent, slow or flooding senders do not keep others from sending events. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, describe, test } from 'node:test';
import { Client } from 'pg';
import { poolConnection } from '../src/platform/database/database.ts';
import { sampleEvent } from './event-samples.ts';
import { sendRaw } from './raw-http.ts';
import { createItem, createOrganization } from './seed.ts';
import { eventually, send, startService, type Reply } from './service.ts';
import { pause } from './waiting.ts';

const service = await startService({ REELFEED_ROLES: 'api' });
const other = await createOrganization(service, 'Other');
const { id: contentId } = await createItem(service);
const { id: othersContentId } = await createItem({
  ...service,
  call: (method, path, call) => service.call(method, path, { key: other.secretKey, ...call }),
});

const ours = { key: service.publishableKey, contentId };
const theirs = { key: other.publishableKey, contentId: othersContentId };
type Sender = typeof ours;

/** A batch as JSON, padded with spaces to a length. */
function batchOf(sender: Sender, bytes = 0): string {
  return JSON.stringify({ events: [sampleEvent('like', sender.contentId)] }).padEnd(bytes);
}

function post(sender: Sender, bytes = 0): Promise<Reply> {
  return send(`${service.url}/v1/events/batch`, 'POST', {
    key: sender.key,
    body: batchOf(sender, bytes),
    headers: { 'content-type': 'application/json' },
  });
}

function headOf(sender: Sender, bytes: number): string {
  return (
    'POST /v1/events/batch HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n' +
    `Authorization: Bearer ${sender.key}\r\nContent-Length: ${bytes}\r\n\r\n`
  );
}

/** Connections that have sent `text` and stay open. */
async function openSockets(count: number, text: string): Promise<Socket[]> {
  const { hostname, port } = new URL(service.url);
  return Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => undefined);
      await once(socket, 'connect');
      socket.write(text);
      return socket;
    }),
  );
}

function closeAll(sockets: readonly Socket[]): void {
  for (const socket of sockets) socket.destroy();
}

/** Sends requests one after another and counts their statuses. */
async function countStatuses(sender: Sender, requests: number): Promise<Map<number, number>> {
  const counts = new Map<number, number>();
  for (let request = 0; request < requests; request += 1) {
    const { status } = await post(sender);
    counts.set(status, (counts.get(status) ?? 0) + 1);
  }
  return counts;
}

test('three silent connections that each announce a mebibyte do not block others', async () => {
  const silent = await openSockets(3, headOf(ours, 1024 * 1024));
  await pause(200, 'the service waits for the bodies');
  assert.deepEqual(await countStatuses(theirs, 269), new Map([[200, 269]]));
  assert.deepEqual(await countStatuses(ours, 30), new Map([[200, 30]]));
  closeAll(silent);
});

test('three hundred slow phones do not block others, and are served themselves', async () => {
  const bytes = 35_000;
  const slow = await openSockets(300, headOf(ours, bytes));
  const answers = slow.map((socket) => once(socket, 'data'));
  const body = batchOf(ours, bytes);
  const pieces = 10;
  const drip = (async () => {
    for (let piece = 0; piece < pieces; piece += 1) {
      const text = body.slice((piece * bytes) / pieces, ((piece + 1) * bytes) / pieces);
      for (const socket of slow) socket.write(text);
      await pause(200, 'the phones are slow');
    }
  })();
  for (const sender of [theirs, ours]) {
    assert.deepEqual(await countStatuses(sender, 60), new Map([[200, 60]]));
  }
  await drip;
  const statuses = (await Promise.all(answers)).map(([data]) => String(data).slice(9, 12));
  const served = statuses.filter((status) => status === '200').length;
  // All bodies complete at the same time here: a flood of 10 MB.
  const refused = statuses.filter((status) => status === '503').length;
  assert.equal(served + refused, 300);
  assert.ok(served >= 60, `${served} of 300 were served`);
  closeAll(slow);
});

test('a stalled body gets 408 and its connection is closed', async () => {
  const startedAt = performance.now();
  const head = headOf(ours, 1000);
  const answer = await sendRaw(service.url, [head, batchOf(ours).slice(0, 100)], {
    timeoutMs: 25_000,
  });
  assert.deepEqual(answer.statuses, [408]);
  assert.equal(answer.body.error.code, 'REQUEST_TIMEOUT');
  assert.ok(answer.closed);
  // Before the time limit for any JSON body.
  assert.ok(performance.now() - startedAt < 25_000);
});

test('connections that stop after a part lose their space to active ones', async () => {
  const part = headOf(ours, 1024 * 1024) + ' '.repeat(900_000);
  const still = await openSockets(30, part);
  const answered = still.map(async (socket) => {
    const [data] = await once(socket, 'data');
    return String(data).slice(9, 12);
  });
  // Thirty bodies of 900 kB exceed the memory for arriving bodies.
  const [ended] = await Promise.all([
    Promise.any(answered),
    countStatuses(ours, 30).then((counts) => assert.deepEqual(counts, new Map([[200, 30]]))),
    countStatuses(theirs, 30).then((counts) => assert.deepEqual(counts, new Map([[200, 30]]))),
  ]);
  assert.equal(ended, '503');
  for (const answer of answered) answer.catch(() => undefined);
  closeAll(still);
});

describe('while nothing can be stored', () => {
  const locker = new Client(poolConnection(service.connection));
  after(() => locker.end());

  test('one organization fills its half, and another is still admitted', async () => {
    await locker.connect();
    await locker.query('begin');
    await locker.query('lock table event_block in access exclusive mode');
    const bytes = 500_000;
    const flood = Array.from({ length: 12 }, () => post(ours, bytes));
    const refused = await Promise.any(
      flood.map(async (pending) => {
        const reply = await pending;
        assert.equal(reply.status, 503);
        return reply;
      }),
    );
    assert.equal(refused.body.error.code, 'UNAVAILABLE');
    assert.equal(refused.headers.get('retry-after'), '1');
    await eventually('the flood to be refused by its head', async () => {
      const answer = await sendRaw(service.url, [headOf(ours, bytes)], {
        timeoutMs: 1_000,
        answers: 1,
      });
      return answer.statuses[0] === 503 ? true : null;
    });
    let isAnswered = false;
    const waiting = Promise.all([post(theirs), post(theirs, bytes)]).finally(
      () => (isAnswered = true),
    );
    await pause(500, 'an answer would have come');
    assert.ok(!isAnswered, 'what was admitted waits for the database');
    await locker.query('commit');
    assert.deepEqual(
      (await waiting).map(({ status }) => status),
      [200, 200],
    );
    const statuses = (await Promise.all(flood)).map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 200).length, 6, String(statuses));
  });

  test('requests of clients that went away still count for their organization', async () => {
    await locker.query('begin');
    await locker.query('lock table event_block in access exclusive mode');
    const bytes = 500_000;
    for (let request = 0; request < 6; request += 1) {
      const [gone] = await openSockets(1, headOf(ours, bytes) + batchOf(ours, bytes));
      await pause(150, 'the body arrives');
      gone?.destroy();
    }
    const reply = await eventually('the organization to be at its limit', async () => {
      const controller = AbortSignal.timeout(1_000);
      const answer = await fetch(`${service.url}/v1/events/batch`, {
        method: 'POST',
        headers: { authorization: `Bearer ${ours.key}`, 'content-type': 'application/json' },
        body: batchOf(ours, bytes),
        signal: controller,
      }).catch(() => null);
      return answer?.status === 503 ? answer : null;
    });
    assert.equal(reply.headers.get('retry-after'), '1');
    await locker.query('commit');
    await eventually('room again', async () => {
      const { status } = await post(ours, bytes);
      return status === 200 ? true : null;
    });
  });
});
