import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { openTestDatabase, silentLog } from '../../../test/database.ts';
import { eventually } from '../../../test/service.ts';
import { inTransaction, openDatabase } from '../../platform/database/database.ts';
import type { OrganizationId } from '../../platform/values/ids.ts';
import {
  changes,
  insertItems,
  insertOrganization,
  startWorkers,
} from '../../../test/bulk/bulk-job.ts';
import { createBulkJob, getBulkJob } from './bulk-job.ts';
import { scaled } from '../../../test/scale.ts';
import { pause } from '../../../test/waiting.ts';

const { db, connection } = await openTestDatabase();
const script = fileURLToPath(new URL('../../../test/bulk/worker-process.ts', import.meta.url));
const children = new Set<ChildProcess>();
after(() => {
  for (const child of children) child.kill('SIGKILL');
});

async function startJob(organizationId: OrganizationId, items: number) {
  await insertOrganization(db, organizationId);
  await insertItems(db, organizationId, items);
  const job = await inTransaction(db, (tx) =>
    createBulkJob(tx, organizationId, {
      operation: 'tag',
      filter: { tags: ['all'] },
      update: { addTags: ['done'] },
    }),
  );
  assert.equal(job.total_items, items);
  return () => getBulkJob(db, organizationId, job.bulk_job_id);
}

async function startWorker() {
  const child = spawn(process.execPath, [script, JSON.stringify(connection)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.add(child);
  const memoryMb: number[] = [];
  child.stdout.on('data', (data: Buffer) => {
    for (const line of data.toString().split('\n')) {
      if (/^\d+$/.test(line)) memoryMb.push(Number(line));
    }
  });
  await once(child.stdout, 'data');
  return {
    memoryMb,
    async kill() {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
      children.delete(child);
    },
  };
}

const items = scaled(25_000, 100_000);
const kills = scaled(3, 10);

test(`${items} items survive ${kills} kill -9 of two workers: each is changed once, memory is flat (2, 3)`, async () => {
  const organizationId = 'org_crash' as const;
  const read = await startJob(organizationId, items);
  let workers = await Promise.all([startWorker(), startWorker()]);
  const progress: number[] = [];
  for (let kill = 0; kill < kills; kill += 1) {
    await pause(300 + 70 * (kill % 4), 'the kill comes in the middle of the work');
    const victim = workers[kill % 2];
    await victim?.kill();
    const job = await read();
    progress.push(job.successful_items + job.failed_items);
    const other = workers[(kill + 1) % 2];
    if (other !== undefined)
      workers = kill % 2 === 0 ? [await startWorker(), other] : [other, await startWorker()];
  }
  assert.ok((progress[0] ?? 0) < items, 'the job was killed on its way');
  const job = await eventually(
    'the job to end',
    async () => {
      const now = await read();
      return now.status === 'processing' ? null : now;
    },
    180_000,
  );
  assert.deepEqual(
    [job.status, job.total_items, job.successful_items, job.failed_items],
    ['complete', items, items, 0],
  );
  assert.deepEqual(await changes(db, organizationId), { 1: items });
  const { rows } = await sql<{ kind: string }>`select kind from webhook_event`.execute(db);
  assert.deepEqual(rows, [{ kind: 'bulk_job.complete' }], 'one event');
  for (const worker of workers) {
    // Loading the process's code takes the first second.
    const settled = worker.memoryMb.slice(5);
    const spread = Math.max(...settled) - Math.min(...settled);
    if (settled.length > 1) assert.ok(spread <= 40, `±20 MB: ${settled.join(' ')}`);
    await worker.kill();
  }
});

test('losing every database connection again and again does nothing twice (2)', async () => {
  const organizationId = 'org_lost' as const;
  const read = await startJob(organizationId, 20_000);
  const database = openDatabase({ connection, poolSize: 4, log: silentLog });
  after(() => database[Symbol.asyncDispose]());
  await using one = startWorkers(database.db);
  await using two = startWorkers(database.db);
  for (let n = 0; n < 8; n += 1) {
    await pause(200, 'some work is done between two losses');
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`.execute(db);
  }
  await eventually(
    'the job to end',
    async () => ((await read()).status === 'complete' ? true : null),
    120_000,
  );
  assert.deepEqual(await changes(db, organizationId), { 1: 20_000 });
  await one[Symbol.asyncDispose]();
  await two[Symbol.asyncDispose]();
});
