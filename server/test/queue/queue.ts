/** Helpers for the tests of the queue. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { openTestDatabase } from '../database.ts';
import type { DatabaseConnection, Db } from '../../src/platform/database/database.ts';
import { inTransaction } from '../../src/platform/database/database.ts';
import type { Job } from '../../src/platform/queue/job-definition.ts';
import type { Note } from './queue-jobs.ts';
import { enqueue, type EnqueueOptions } from '../../src/platform/queue/queue.ts';

/** Clones a database with organizations org_a to org_f and a table for effects. */
export async function openQueueDatabase(): Promise<{ db: Db; connection: DatabaseConnection }> {
  const { db, connection } = await openTestDatabase();
  await sql`create table effect (text text not null)`.execute(db);
  await db
    .insertInto('organization')
    .values(
      ['A', 'B', 'C', 'D', 'E', 'F'].map((name) => ({
        organization_id: `org_${name.toLowerCase()}`,
        name,
      })),
    )
    .execute();
  return { db, connection };
}

export async function effects(db: Db): Promise<string[]> {
  const { rows } = await sql<{ text: string }>`select text from effect order by text`.execute(db);
  return rows.map((row) => row.text);
}

export async function add(
  db: Db,
  job: Job<Note>,
  note: string,
  options: Partial<EnqueueOptions> = {},
): Promise<number | null> {
  return inTransaction(db, (tx) =>
    enqueue(tx, job, { note }, { organizationId: 'org_a', ...options }),
  );
}

export async function jobRows(db: Db) {
  return db
    .selectFrom('job')
    .select(['job_id', 'name', 'state', 'attempts', 'last_error', 'run_at', 'worker'])
    .orderBy('job_id')
    .execute();
}

/** Waits until the check holds, and otherwise fails with `what`. */
export async function eventually(
  what: string,
  check: () => boolean | Promise<boolean>,
  withinMs = 15_000,
): Promise<void> {
  const endsAt = performance.now() + withinMs;
  while (!(await check())) {
    assert.ok(performance.now() < endsAt, `within ${withinMs} ms: ${what}`);
    await delay(20);
  }
}

export function queueIsEmpty(db: Db): () => Promise<boolean> {
  return async () => (await jobRows(db)).length === 0;
}
