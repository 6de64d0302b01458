/** Jobs and timing of the queue's tests, shared with their child processes. */
import { sql } from 'kysely';
import { Type } from 'typebox';
import type { Tx } from '../../src/platform/database/database.ts';
import { defineJob, type Job } from '../../src/platform/queue/job-definition.ts';
import type { QueueTiming } from '../../src/platform/queue/queue-workers.ts';

/** Short enough for tests, but in the same proportions as the defaults. */
export const quickTiming: QueueTiming = {
  leaseMs: 2_000,
  renewEveryMs: 400,
  takeBackEveryMs: 100,
  pollEveryMs: 50,
  graceMs: 1_000,
  patienceMs: 1_000,
};

export type Note = { note: string };

/** A job whose name states its purpose. onExhausted writes the note with the reason. */
export function noteJob(
  name: string,
  rules: {
    maxAttempts?: number;
    concurrency?: number;
    sharesPlaces?: boolean;
    timeoutMs?: number;
    delayMs?: number;
  } = {},
): Job<Note> {
  return defineJob({
    name,
    payload: Type.Object({ note: Type.String() }),
    timeoutMs: rules.timeoutMs ?? 10_000,
    retry: { maxAttempts: rules.maxAttempts ?? 3, delayMs: () => rules.delayMs ?? 0 },
    concurrency: rules.concurrency ?? 1,
    sharesPlaces: rules.sharesPlaces ?? false,
    onExhausted: (tx, { note }, failure) => writeEffect(tx, `${note} failed: ${failure.reason}`),
  });
}

/** An effect that must happen exactly once: a row without a unique key that would hide a repeat. */
export async function writeEffect(tx: Tx, text: string): Promise<void> {
  await sql`insert into effect (text) values (${text})`.execute(tx);
}
