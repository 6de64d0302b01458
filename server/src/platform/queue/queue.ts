/**
 * The job queue: one row of the table `job` is one job.
 *
 *               enqueue (run_at ahead)          enqueue
 *                        │                         │
 *                        ▼       promote           ▼        claim
 *                   scheduled ───────────────▶ waiting ───────────────▶ running ──▶ gone
 *                        ▲                         ▲                     │ │ │     finish, remove
 *                        │                         └── release, take ────┘ │ │
 *                        │                             back              │ │ │
 *                        └───────────────────────────────── retry ───────┘ └─┴──▶ failed
 *                                                                            fail
 *
 * Transitions:
 *   enqueue     a transaction of any feature
 *   promote     any worker, when run_at has come
 *   claim       a worker with a free slot for the name: new claim id, lease, attempts + 1
 *   finish      the claim's holder: final effect and removal in one transaction
 *   remove      the claim's holder, if the handler answered done or skipped without finish
 *   retry       the claim's holder, after a failure with attempts left: due after the delay; also
 *               after a storage outage, which does not count as an attempt
 *   fail        the claim's holder, after a final failure: onExhausted in one transaction
 *   release     the claim's holder at shutdown: the attempt is not counted
 *   take back   any worker, when the lease has expired, or at its start if the job was run by an
 *               earlier process of the same name: the attempt stays counted
 *   (failed jobs are deleted after 30 days)
 *
 * Invariants:
 *   1. Every write of a holder is fenced: the row must be running under its own claim id. Effects
 *      that must happen once (the final effect, onExhausted) are in the transaction of such a
 *      write, so they happen at most once, and a holder that has lost its claim leaves no trace.
 *   2. A job has at most one claim. Two handlers can overlap only if a holder was cut off from
 *      the database for longer than its lease while another worker was not. The holder learns of
 *      the loss at its first contact, and by invariant 1 only one of the two has an effect. A holder
 *      is not stopped just because it cannot renew: nobody else can claim during a database outage.
 *   3. Attempts are counted by the claim, before the handler runs. A job whose process dies each
 *      time runs out of attempts; the next claim then runs onExhausted, not the handler. A failing
 *      onExhausted is retried up to five times; then the job is marked as failed without it.
 *   4. Only now() of the database decides which jobs are due and which leases have expired.
 *   5. While the database is reachable, a holder renews often enough to keep its lease. A worker
 *      takes back expired leases only after it has reached the database without errors for longer
 *      than a renewal interval, so that holders can renew first after an outage. A take back that
 *      was in flight during a hang takes nothing.
 *   6. A claim takes a job of the lowest rank. Among those it prefers the organization with the
 *      fewest running jobs of the name, then the one whose latest turn is the longest ago, then the
 *      job with the earliest place. Concurrent claims may not see each other's job as running yet.
 *      For a kind that shares places, an organization gets another place of a process only while
 *      it holds fewer places there than a quarter of the free ones.
 *   7. If a connection is lost during COMMIT, the row shows whether it succeeded: the fenced write
 *      is sent again, waits for the row's lock if the first write is still running, and finds the
 *      row either still claimed (nothing was written) or gone (everything was written).
 *   8. A live job is unique by (name, organization, unique key).
 *
 * Dead workers are known by name only if the caller guarantees unique names (`exclusiveName`).
 * Session advisory locks, one per worker, were considered and rejected: a restart of PostgreSQL, a
 * failover or a terminated backend frees them all, and every long job of the cluster would start
 * over.
 */
import type { Tx } from '../database/database.ts';
import { currentSpan } from '../tracing/tracing.ts';
import type { Job } from './job-definition.ts';
import { parsePayload } from './job-handler.ts';
import { insertJob } from './queries.ts';

export type EnqueueOptions = {
  readonly organizationId: string;
  /** When the job is due, by the database's clock. Default: now. */
  readonly runAt?: Date;
  /**
   * Nothing is added while a live job with this name and organization (scheduled, waiting or
   * running) has the same key. A running job may already have read the state that it works on.
   */
  readonly uniqueKey?: string;
  /** Jobs with a lower rank are claimed before all others with their name. Default: 0. */
  readonly rank?: number;
  /**
   * Expected run time. Within an organization, the job is ordered as if it were due this much
   * later, so short jobs overtake long ones, but no job waits forever. Default: 0.
   */
  readonly expectedMs?: number;
};

const maxPayloadBytes = 8_192;
const longestUniqueKey = 200;
const maxExpectedMs = 24 * 3_600_000;

/**
 * Adds a job in the caller's transaction; call `hints.give(job.name)` after it has committed.
 *
 * @returns the job's id, or null if a live job has the unique key
 * @throws PayloadError if the payload does not match the schema
 * @throws RangeError if the payload or the unique key is too long
 */
export async function enqueue<Payload>(
  tx: Tx,
  job: Job<Payload>,
  payload: Payload,
  options: EnqueueOptions,
): Promise<number | null> {
  const payloadJson = JSON.stringify(parsePayload(job, payload));
  if (Buffer.byteLength(payloadJson) > maxPayloadBytes) {
    throw new RangeError(`the payload of ${job.name} is longer than ${maxPayloadBytes} bytes`);
  }
  const uniqueKey = options.uniqueKey ?? null;
  if (uniqueKey !== null && uniqueKey.length > longestUniqueKey) {
    throw new RangeError(`the unique key of ${job.name} is longer than ${longestUniqueKey}`);
  }
  return insertJob(tx, {
    name: job.name,
    organizationId: options.organizationId,
    payloadJson,
    runAt: options.runAt ?? null,
    uniqueKey,
    rank: options.rank ?? 0,
    expectedMs: Math.min(options.expectedMs ?? 0, maxExpectedMs),
    traceparent: currentSpan()?.traceparent ?? null,
  });
}
