/**
 * Proves that an acknowledged event is stored exactly once: whatever is killed, however many
 * processes receive it, and even under overload.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { Client } from 'pg';
import { poolConnection } from '../src/platform/database/database.ts';
import { connectionToRunningServer } from '../src/platform/postgres/running-server.ts';
import { assertExactlyOnce, createFirstItem, newJournal, sendEvents } from './event-journal.ts';
import { sampleEvent } from './event-samples.ts';
import { kill, seededRandom, serviceProcesses } from './process-tree.ts';
import { ready, startMain, startProcess, type RunningProcess } from './processes.ts';
import { createItem } from './seed.ts';
import {
  eventually,
  send,
  startService,
  temporaryFolder,
  toUrl,
  type Reply,
  type TestService,
} from './service.ts';
import { openStoredEvents } from './stored-events.ts';
import { newUuid7 } from '../src/platform/values/uuid7.ts';
import { isFullScale, onlyInFullRuns, scaled } from './scale.ts';
import { pause, until } from './waiting.ts';

const onlyLinux = {
  skip: existsSync('/proc/self/stat') ? false : 'reads /proc, which this system does not have',
};

const inFullRuns = isFullScale ? onlyLinux : onlyInFullRuns;

type Instance = { url: string; process: RunningProcess; output: string };

async function startInstance(dataDir: string): Promise<Instance> {
  const running = startMain({
    env: {
      PORT: '0',
      REELFEED_DATA_DIR: dataDir,
      REELFEED_LOG_LEVEL: 'error',
      REELFEED_MIN_FREE_BYTES: '0',
    },
  });
  return { url: await ready(running), process: running, output: running.output.stdout };
}

const kills = scaled(2, 18);

test(
  'kills of the service, the database or both lose and duplicate nothing',
  onlyLinux,
  async (t) => {
    const seed = Number(process.env['REELFEED_TEST_SEED'] ?? randomInt(2 ** 31));
    t.diagnostic(`REELFEED_TEST_SEED=${seed}`);
    const random = seededRandom(seed);
    const dataDir = await temporaryFolder();
    let instance = await startInstance(dataDir);
    const { key, contentId } = await createFirstItem(instance);
    const journal = newJournal();
    const stopping = new AbortController();
    const senders = Array.from({ length: 12 }, () =>
      sendEvents(() => instance.url, { key, contentId }, journal, stopping.signal),
    );
    for (let n = 0; n < kills; n += 1) {
      await pause(100 + random() * 700, 'the kill comes at any moment');
      const found = await serviceProcesses(instance.process.pid, dataDir);
      const victims = [
        [found.service],
        found.postmaster === null ? [] : [found.postmaster],
        found.all,
      ][n % 3];
      kill(victims ?? []);
      if (n % 3 !== 1) await instance.process.ended;
      const { child } = instance.process;
      if (child.exitCode !== null || child.signalCode !== null)
        instance = await startInstance(dataDir);
    }
    const before = journal.acknowledged.size;
    await eventually('events to be stored again', async () =>
      journal.acknowledged.size > before + 200 ? true : null,
    );
    stopping.abort();
    await Promise.all(senders);
    const stored = await openStoredEvents({ connection: await connectionToRunningServer(dataDir) });
    assertExactlyOnce(
      (await stored.all()).map(({ eventId }) => eventId),
      journal,
    );
    assert.equal(journal.acknowledged.size, journal.sent.size, 'the senders did not give up');
    const refusals = JSON.stringify([...journal.refusals]);
    t.diagnostic(`${journal.sent.size} events, ${kills} kills, refusals ${refusals}`);
  },
);

test(
  'SIGTERM under load: acknowledged events are stored, and the shutdown is clean',
  onlyLinux,
  async () => {
    const service = await startService({ REELFEED_ROLES: 'worker' });
    const one = await startProcess(service.connection, service.dataDir, { REELFEED_ROLES: 'api' });
    const other = startMain({
      env: {
        PORT: '0',
        REELFEED_DATA_DIR: service.dataDir,
        DATABASE_URL: toUrl(service.connection),
        REELFEED_LOG_LEVEL: 'error',
        REELFEED_ROLES: 'api',
      },
    });
    let url = await ready(other);
    const { id: contentId } = await createItem({ ...service, call: callOn(one.url, service) });
    const stored = await openStoredEvents(service);
    const journal = newJournal();
    const stopping = new AbortController();
    const sender = { key: service.publishableKey, contentId };
    const senders = Array.from({ length: 24 }, () =>
      sendEvents(() => url, sender, journal, stopping.signal),
    );
    await until(
      'the load',
      () => journal.acknowledged.size,
      (size) => size > 0,
    );
    const atEnd = journal.acknowledged.size;
    other.child.kill('SIGTERM');
    const { code, stderr } = await other.ended;
    assert.equal(code, 0, stderr);
    assert.ok(atEnd > 0);
    // The senders continue with the remaining process and resend what was not acknowledged.
    url = one.url;
    const before = journal.acknowledged.size;
    await until(
      'the rest to be sent',
      () => journal.acknowledged.size,
      (size) => size > before,
    );
    stopping.abort();
    await Promise.all(senders);
    assertExactlyOnce(
      (await stored.all()).map(({ eventId }) => eventId),
      journal,
    );
    await one.kill();
  },
);

test(
  'a hanging database gives 503 after a while, and resent events count once',
  inFullRuns,
  async () => {
    const dataDir = await temporaryFolder();
    const instance = await startInstance(dataDir);
    const { key, contentId } = await createFirstItem(instance);
    const post = (events: readonly object[]) =>
      send(`${instance.url}/v1/events/batch`, 'POST', { key, body: { events } });
    assert.equal((await post([sampleEvent('like', contentId)])).status, 200);
    const { all, service } = await serviceProcesses(instance.process.pid, dataDir);
    const database = all.filter((pid) => pid !== service);
    for (const pid of database) process.kill(pid, 'SIGSTOP');
    const events = Array.from({ length: 50 }, () => sampleEvent('like', contentId));
    const refused = await Promise.all(events.map((event) => post([event])));
    for (const pid of database) process.kill(pid, 'SIGCONT');
    assert.deepEqual(new Set(refused.map(({ status }) => status)), new Set([503]));
    assert.ok(refused.every(({ headers }) => /^[1-9]\d*$/.test(headers.get('retry-after') ?? '')));
    const again = await post(events);
    assert.deepEqual([again.status, again.body.data.received], [200, 50]);
    const stored = await openStoredEvents({ connection: await connectionToRunningServer(dataDir) });
    const ids = (await stored.all()).map(({ eventId }) => eventId);
    assert.equal(ids.length, 51);
    assert.equal(new Set(ids).size, 51);
  },
);

test('the same events sent to two processes at the same time count once', async () => {
  const service = await startService({ REELFEED_ROLES: 'api' });
  const other = await startProcess(service.connection, service.dataDir, { REELFEED_ROLES: 'api' });
  const { id: contentId } = await createItem(service);
  const stored = await openStoredEvents(service);
  const sent: string[] = [];
  const urls = [service.url, other.url];
  for (let round = 0; round < 15; round += 1) {
    const events = Array.from({ length: 100 }, () => sampleEvent('like', contentId));
    sent.push(...events.map(({ eventId }) => String(eventId)));
    const replies = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        send(`${urls[n % 2]}/v1/events/batch`, 'POST', {
          key: service.publishableKey,
          // In opposite orders, which could deadlock.
          body: { events: n % 4 < 2 ? events : events.toReversed() },
        }),
      ),
    );
    for (const { status, body } of replies)
      assert.deepEqual([status, body.data.received], [200, 100]);
  }
  const ids = (await stored.all()).map(({ eventId }) => eventId);
  assert.deepEqual(ids.toSorted(), sent.toSorted());
  await other.kill();
});

test(
  'an overload is rejected immediately, memory stays flat, nothing is lost',
  inFullRuns,
  async (t) => {
    const service = await startService({ REELFEED_ROLES: 'worker' });
    const loaded = await startProcess(service.connection, service.dataDir, {
      REELFEED_ROLES: 'api',
    });
    const { id: contentId } = await createItem({ ...service, call: callOn(loaded.url, service) });
    const stored = await openStoredEvents(service);
    const { key, sendBatch } = { key: service.publishableKey, sendBatch: batchSender(loaded.url) };
    for (let n = 0; n < 50; n += 1) await sendBatch(key, contentId);
    const before = await residentMb(loaded.pid);
    // Holding this lock rotates the ledger, so nothing can be stored.
    const holder = new Client(poolConnection(service.connection));
    await holder.connect();
    await holder.query('begin');
    await holder.query('select pg_advisory_xact_lock(7205019834)');
    let maxMb = before;
    const watch = setInterval(
      () => void residentMb(loaded.pid).then((mb) => (maxMb = Math.max(maxMb, mb))),
      50,
    );
    const pending = Array.from({ length: 900 }, () => sendBatch(key, contentId));
    const answered: Reply[] = [];
    for (const one of pending) void one.then((reply) => answered.push(reply));
    // Before the service rejects the waiting requests, after 15 seconds.
    await until(
      'refusals',
      () => answered.length,
      (count) => count >= 300,
      12_000,
    );
    // Nothing can be stored yet, so every response is a rejection.
    const refused = [...answered];
    assert.ok(refused.length < pending.length, 'some wait');
    for (const { status, headers } of refused) {
      assert.equal(status, 503);
      assert.match(headers.get('retry-after') ?? '', /^[1-9]\d*$/);
    }
    const feed = await send(`${loaded.url}/v1/feed`, 'GET', { key });
    assert.equal(feed.status, 200, 'reads go on');
    await holder.query('commit');
    await holder.end();
    const replies = await Promise.all(pending);
    clearInterval(watch);
    const acknowledged = replies.filter(({ status }) => status === 200).flatMap(({ ids }) => ids);
    assert.ok(acknowledged.length >= 100 * 100, `${acknowledged.length} were stored in the end`);
    const ids = (await stored.all()).map(({ eventId }) => eventId);
    assert.equal(new Set(ids).size, ids.length);
    const kept = new Set(ids);
    assert.ok(acknowledged.every((id) => kept.has(id)));
    t.diagnostic(`${Math.round(before)} MB before, at most ${Math.round(maxMb)} MB`);
    assert.ok(maxMb - before < 200);
    await loaded.kill();
  },
);

function batchSender(url: string) {
  return async (key: string, contentId: string) => {
    const ids = Array.from({ length: 100 }, () => newUuid7());
    const events = ids.map((eventId) => sampleEvent('watchProgress', contentId, { eventId }));
    const reply = await send(`${url}/v1/events/batch`, 'POST', { key, body: { events } });
    return { ...reply, ids };
  };
}

async function residentMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

function callOn(url: string, service: TestService): TestService['call'] {
  return (method, path, call) => send(`${url}${path}`, method, { key: service.secretKey, ...call });
}
