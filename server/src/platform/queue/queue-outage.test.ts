import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createConnection, createServer, type Socket } from 'node:net';
import { after, beforeEach, describe, test } from 'node:test';
import { sql } from 'kysely';
import { silentLog } from '../../../test/database.ts';
import { openDatabase, type DatabaseConnection, type Db } from '../database/database.ts';
import { done, failed, handle, type HandledJob } from './job-handler.ts';
import {
  add,
  effects,
  eventually,
  jobRows,
  openQueueDatabase,
  queueIsEmpty,
} from '../../../test/queue/queue.ts';
import { noteJob, quickTiming, writeEffect } from '../../../test/queue/queue-jobs.ts';
import { startQueueWorkers, type AttemptReport } from './queue-workers.ts';
import { pause } from '../../../test/waiting.ts';

const { db, connection } = await openQueueDatabase();

beforeEach(async () => {
  await sql`truncate job, effect`.execute(db);
});

/** The fault to inject into the next COMMIT. */
type Fault = 'none' | 'answer lost' | 'commit lost';

/** A connection to PostgreSQL that can break at a COMMIT, hang, or be cut completely. */
class FaultyLine {
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((client) => this.#join(client));
  fault: Fault = 'none';
  broken = 0;
  #cut = false;
  #held = false;

  async open(): Promise<DatabaseConnection> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    const address = this.#server.address();
    assert.ok(address !== null && typeof address === 'object');
    if (!('url' in connection)) return { ...connection, host: '127.0.0.1', port: address.port };
    const url = new URL(connection.url);
    url.host = `127.0.0.1:${address.port}`;
    return { url: url.href };
  }

  #join(client: Socket): void {
    const server = this.#cut ? null : createConnection(serverAddress());
    for (const socket of server === null ? [client] : [client, server]) {
      this.#sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => this.#sockets.delete(socket));
    }
    if (server === null) return void client.destroy();
    const answer = (data: Buffer) => void client.write(data);
    server.on('data', answer).on('close', () => client.destroy());
    client.on('close', () => server.destroy());
    client.on('data', (data) => {
      const isCommit = this.fault !== 'none' && data.includes('commit\0');
      if (!isCommit) return void server.write(data);
      this.broken += 1;
      if (this.fault === 'commit lost') client.destroy();
      else
        server
          .off('data', answer)
          .once('data', () => client.destroy())
          .write(data);
      this.fault = 'none';
    });
    if (this.#held) this.hold();
  }

  cut(): void {
    this.#cut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  mend(): void {
    this.#cut = false;
  }

  /** Simulates a stopped server: sent data is kept, but never answered. */
  hold(): void {
    this.#held = true;
    for (const socket of this.#sockets) socket.pause();
  }

  resume(): void {
    this.#held = false;
    for (const socket of this.#sockets) socket.resume();
  }

  close(): void {
    this.cut();
    this.#server.close();
  }
}

function serverAddress() {
  if ('url' in connection) {
    const url = new URL(connection.url);
    return { host: url.hostname, port: Number(url.port || 5432) };
  }
  const { host, port } = connection;
  return host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
}

async function openBehind(line: FaultyLine): Promise<Db> {
  const behind = openDatabase({ connection: await line.open(), poolSize: 6, log: silentLog });
  after(async () => {
    line.close();
    await behind[Symbol.asyncDispose]();
  });
  return behind.db;
}

const line = new FaultyLine();
const otherLine = new FaultyLine();
const behindLine = await openBehind(line);
const behindOther = await openBehind(otherLine);

function start(handler: HandledJob, through = behindLine) {
  const reports: AttemptReport[] = [];
  const onAttempt = (report: AttemptReport) => void reports.push(report);
  const jobs = [handler];
  const options = { db: through, jobs, log: silentLog, timing: quickTiming, onAttempt };
  const workers = startQueueWorkers(options);
  return { reports, [Symbol.asyncDispose]: () => workers[Symbol.asyncDispose]() };
}

const work = handle(noteJob('work', { concurrency: 4 }), async ({ note }, context) => {
  await pause(20, 'the work takes a moment');
  await context.finish((tx) => writeEffect(tx, note));
  return done;
});

describe('a connection lost during the COMMIT of finish (7)', () => {
  for (const fault of ['answer lost', 'commit lost'] as const) {
    test(`${fault}: the effect happens once, and the attempt is done`, async () => {
      const before = line.broken;
      line.fault = fault;
      await add(db, noteJob('work'), 'a');
      await using workers = start(work);
      await eventually('the job is gone', queueIsEmpty(db));
      await eventually('it is reported', () => workers.reports.length === 1);
      assert.equal(line.broken, before + 1, 'the fault has happened');
      assert.deepEqual(await effects(db), ['a']);
      assert.equal(workers.reports[0]?.outcome, 'done');
    });

    test(`${fault}, for a failure: onExhausted happens once`, async () => {
      const job = noteJob('fail');
      const handler = handle(job, async () => failed('broken', { retryable: false }));
      line.fault = fault;
      await add(db, job, 'a');
      await using workers = start(handler);
      await eventually('it is reported', () => workers.reports.length === 1);
      assert.deepEqual(await effects(db), ['a failed: broken']);
      assert.equal(workers.reports[0]?.outcome, 'failed');
      assert.equal((await jobRows(db))[0]?.state, 'failed');
    });
  }
});

describe('longer than the lease, with the holder last to come back,', () => {
  const outages = {
    'an outage': {
      begin: (line: FaultyLine) => line.cut(),
      end: (line: FaultyLine) => line.mend(),
    },
    'a hang': {
      begin: (line: FaultyLine) => line.hold(),
      end: (line: FaultyLine) => line.resume(),
    },
  };
  for (const [name, { begin, end }] of Object.entries(outages)) {
    test(`${name} of the database costs a running job nothing (2, 5)`, async () => {
      const job = noteJob('long');
      const handler = handle(job, async ({ note }, context) => {
        await pause(quickTiming.leaseMs + 3_000, 'longer than the lease and the outage');
        await context.finish((tx) => writeEffect(tx, `${note} ${context.attempt}`));
        return done;
      });
      await add(db, job, 'a');
      await using holder = start(handler);
      await eventually('it runs', async () => (await jobRows(db))[0]?.state === 'running');
      await using other = start(handler, behindOther);
      const enough = 'the other worker would take back what it finds expired';
      await pause(quickTiming.renewEveryMs + 1_200, enough);
      begin(line);
      begin(otherLine);
      await pause(quickTiming.leaseMs + 500, 'the outage lasts longer than the lease');
      end(otherLine);
      await pause(500, 'the other worker is back first');
      end(line);
      await eventually('the job is gone', queueIsEmpty(db), 8_000);
      assert.deepEqual(await effects(db), ['a 1']);
      await eventually('it is reported', () => holder.reports.length === 1);
      assert.deepEqual(other.reports, []);
    });
  }
});

test('terminating all connections repeatedly loses and duplicates nothing (1, 7)', async () => {
  const job = noteJob('work');
  const notes = Array.from({ length: 150 }, (_, n) => `${n}`.padStart(3, '0'));
  for (const note of notes) await add(db, job, note);
  await using one = start(work);
  await using two = start(work);
  for (let n = 0; n < 8; n += 1) {
    await pause(120, 'some work is done between two losses');
    // The pool may hand out a connection that has ended without being noticed yet.
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`
      .execute(db)
      .catch(() => undefined);
  }
  await eventually('all jobs are gone', queueIsEmpty(db), 30_000);
  assert.deepEqual(await effects(db), notes);
  await one[Symbol.asyncDispose]();
  await two[Symbol.asyncDispose]();
});
