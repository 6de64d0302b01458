/** What the tests of the queue share. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { Type } from 'typebox';
import { openTestDatabase } from '../../../test/database.ts';
import type { DatabaseConnection, Db, Tx } from '../database/database.ts';
import { inTransaction } from '../database/database.ts';
import { defineJob, type Job } from './job-definition.ts';
import { enqueue, type EnqueueOptions } from './queue.ts';
import type { QueueTiming } from './queue-workers.ts';

/** Short enough for tests, in the proportions of the defaults. */
export const quickTiming: QueueTiming = {
  leaseMs: 2_000,
  renewEveryMs: 400,
  takeBackEveryMs: 100,
  pollEveryMs: 50,
  graceMs: 1_000,
  patienceMs: 1_000,
};

export type Note = { note: string };

/** A job that says what it is for by its name; onExhausted writes the note with the reason. */
export function noteJob(
  name: string,
  rules: { maxAttempts?: number; concurrency?: number; timeoutMs?: number; delayMs?: number } = {},
): Job<Note> {
  return defineJob({
    name,
    payload: Type.Object({ note: Type.String() }),
    timeoutMs: rules.timeoutMs ?? 10_000,
    retry: { maxAttempts: rules.maxAttempts ?? 3, delayMs: () => rules.delayMs ?? 0 },
    concurrency: rules.concurrency ?? 1,
    onExhausted: (tx, { note }, failure) => writeEffect(tx, `${note} failed: ${failure.reason}`),
  });
}

/** Clones a database with organizations org_a and org_b and a table for effects. */
export async function openQueueDatabase(): Promise<{ db: Db; connection: DatabaseConnection }> {
  const { db, connection } = await openTestDatabase();
  await sql`create table effect (text text not null)`.execute(db);
  await db
    .insertInto('organization')
    .values([
      { organization_id: 'org_a', name: 'A' },
      { organization_id: 'org_b', name: 'B' },
    ])
    .execute();
  return { db, connection };
}

/** The kind of effect that must happen once: a row without any unique key to save it. */
export async function writeEffect(tx: Tx, text: string): Promise<void> {
  await sql`insert into effect (text) values (${text})`.execute(tx);
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

/** Waits until the check holds, and fails with what it was waiting for. */
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
