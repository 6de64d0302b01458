/**
 * The service with its event log in a three-node JetStream cluster: whatever happens to one node,
 * every acknowledged event is stored once, and reports equal those of a rebuild.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { openJetStream } from '../src/platform/event-log/jetstream/jetstream-stream.ts';
import { connectionToRunningServer } from '../src/platform/postgres/running-server.ts';
import { silentLog } from './database.ts';
import { assertExactlyOnce, createFirstItem, newJournal, sendEvents } from './event-journal.ts';
import { hasNatsServer, startNatsCluster } from './nats-cluster.ts';
import { seededRandom } from './process-tree.ts';
import { ready, runCommand, startMain, type RunningProcess } from './processes.ts';
import { scaled } from './scale.ts';
import { send, temporaryFolder } from './service.ts';
import { openStoredEvents } from './stored-events.ts';
import { pause, until } from './waiting.ts';

const options = { skip: hasNatsServer ? false : 'needs the program nats-server' };
const stream = 'CLUSTER_EVENTS';
const rounds = scaled(1, 5);
/** A new leader is elected within about four seconds; then the nodes must reconnect. */
const backWithinMs = 15_000;

test(
  'a node is killed, frozen or wiped, or the service killed: nothing is lost',
  options,
  async (t) => {
    const seed = Number(process.env['REELFEED_TEST_SEED'] ?? randomInt(2 ** 31));
    t.diagnostic(`REELFEED_TEST_SEED=${seed}`);
    const random = seededRandom(seed);
    const cluster = await startNatsCluster();
    const dataDir = await temporaryFolder();
    const env = {
      PORT: '0',
      REELFEED_DATA_DIR: dataDir,
      REELFEED_LOG_LEVEL: 'error',
      REELFEED_MIN_FREE_BYTES: '0',
      REELFEED_EVENT_LOG: `nats://${cluster.servers.join(',')}/${stream}`,
    };
    const start = async (): Promise<{ running: RunningProcess; url: string }> => {
      const running = startMain({ env });
      return { running, url: await ready(running) };
    };
    let instance = await start();
    const first = instance.running.output.stdout;
    const { key, contentId } = await createFirstItem({ url: instance.url, output: first });
    const secretKey = /(rf_sk_\w+)/.exec(first)?.[1] ?? '';
    const journal = newJournal();
    const stopping = new AbortController();
    const senders = Array.from({ length: 6 }, () =>
      sendEvents(() => instance.url, { key, contentId }, journal, stopping.signal),
    );
    const faults: [string, (node: number) => Promise<void>][] = [
      [
        'a node is killed',
        async (node) => {
          await cluster.kill(node);
          await untilStored(`while node ${node} is away`);
          cluster.start(node);
        },
      ],
      [
        'a node stands still',
        async (node) => {
          cluster.freeze(node);
          await untilStored(`while node ${node} stands still`);
          cluster.thaw(node);
        },
      ],
      [
        'a node loses its disk',
        async (node) => {
          await cluster.kill(node);
          await cluster.empty(node);
          cluster.start(node);
        },
      ],
      [
        'the service is killed',
        async () => {
          instance.running.child.kill('SIGKILL');
          await instance.running.ended;
          instance = await start();
        },
      ],
    ];
    const worst = new Map<string, number>();
    async function untilStored(when: string): Promise<void> {
      const before = journal.acknowledged.size;
      const startedAt = performance.now();
      await until(
        `events to be stored ${when}`,
        () => journal.acknowledged.size,
        (size) => size > before + 200,
        backWithinMs,
      );
      worst.set(when, Math.round(performance.now() - startedAt));
    }
    for (let round = 0; round < rounds; round += 1) {
      for (const [what, happens] of faults) {
        await pause(100 + random() * 400, 'the fault comes at any moment');
        await happens(Math.floor(random() * 3));
        await untilStored(`after this: ${what}`);
        // Three nodes can't survive a second fault before the first is repaired.
        await cluster.untilComplete(stream, 3);
      }
    }
    stopping.abort();
    await Promise.all(senders);
    await using bytes = await openJetStream(
      {
        servers: cluster.servers,
        isEncrypted: false,
        user: null,
        password: null,
        stream,
        replicas: null,
      },
      silentLog,
    );
    const stored = await openStoredEvents(
      { connection: await connectionToRunningServer(dataDir) },
      bytes,
    );
    const ids = (await stored.all()).map(({ eventId }) => eventId);
    assertExactlyOnce(ids, journal);
    assert.equal(journal.acknowledged.size, journal.sent.size, 'the senders did not give up');
    const likes = () => likesOf(instance.url, secretKey);
    await until('every like to be counted', likes, (count) => count === ids.length);
    const rebuilt = await runCommand(['rebuild', 'engagement'], { env });
    assert.equal(rebuilt.code, 0, rebuilt.stderr);
    assert.equal(await likes(), ids.length);
    const refusals = JSON.stringify([...journal.refusals]);
    t.diagnostic(`${ids.length} events, refusals ${refusals}, ms: ${JSON.stringify([...worst])}`);
    instance.running.child.kill('SIGTERM');
    assert.equal((await instance.running.ended).code, 0);
  },
);

async function likesOf(url: string, key: string): Promise<number> {
  const { body } = await send(`${url}/v1/analytics/overview`, 'GET', { key });
  return body.data.summary.likes as number;
}

test(
  'a running service continues without its cluster; a starting one says what is missing',
  options,
  async () => {
    const cluster = await startNatsCluster();
    const dataDir = await temporaryFolder();
    const env = {
      PORT: '0',
      REELFEED_DATA_DIR: dataDir,
      REELFEED_EVENT_LOG: `nats://${cluster.servers.join(',')}/${stream}`,
    };
    const running = startMain({ env });
    const url = await ready(running);
    const { stdout: output } = running.output;
    const { key, contentId } = await createFirstItem({ url, output });
    const secretKey = /(rf_sk_\w+)/.exec(output)?.[1] ?? '';
    const like = () =>
      send(`${url}/v1/events`, 'POST', { key, body: { event: 'like', contentId } });
    assert.equal((await like()).status, 200);
    for (const node of [0, 1, 2]) await cluster.kill(node);
    const meanwhile = await like();
    assert.equal(meanwhile.status, 200, 'the database keeps the event');
    assert.equal((await send(`${url}/v1/feed`, 'GET', { key })).status, 200);
    for (const node of [0, 1, 2]) cluster.start(node);
    await cluster.untilComplete(stream, 3);
    assert.equal((await like()).status, 200);
    const counted = () => likesOf(url, secretKey);
    await until('every like to be counted', counted, (count) => count === 3);
    running.child.kill('SIGTERM');
    assert.equal((await running.ended).code, 0);
    for (const node of [0, 1, 2]) await cluster.kill(node);
    const ended = await startMain({ env }).ended;
    assert.equal(ended.code, 1);
    assert.match(ended.stderr + ended.stdout, /The NATS server of the event log/);
  },
);
