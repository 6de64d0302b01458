/**
 * Runs of saved reports: the result of a report at a due time.
 *
 * 1. Creating the run of a due time and moving to the next one is one transaction, and a due time
 *    has at most one run, so each gets exactly one even after a crash.
 * 2. A job executes a run. Its result, the webhook event and the job that mails it are one
 *    transaction. A mail may be sent twice if the service is killed between the mail server's
 *    acknowledgement and recording it; both have the same Message-ID.
 * 3. A run waits until the reports have counted everything acknowledged before its due time.
 * 4. Missed due times of the last seven days are made up for.
 */
import { Type } from 'typebox';
import { inTransaction, type Db, type Tx } from '../../platform/database/database.ts';
import { newTypeId } from '../../platform/values/ids.ts';
import { defineJob, doublingDelay } from '../../platform/queue/job-definition.ts';
import { enqueue } from '../../platform/queue/queue.ts';
import { dayMs, formatTimestamp } from '../../platform/values/time.ts';
import { readOrganizationClock } from '../organizations/organizations.ts';
import {
  failRun,
  insertRun,
  lockDueReport,
  moveReport,
  type MadeRun,
  type ReportRow,
  type RunRow,
} from './queries.ts';
import { scheduleClock } from './reports.ts';
import { completeDaysOf, nextDue, type Schedule } from './schedule.ts';

const payload = Type.Object({ reportId: Type.String(), runId: Type.String() });

export const makeReportJob = defineJob({
  name: 'make-report',
  payload,
  timeoutMs: 120_000,
  retry: { maxAttempts: 6, delayMs: doublingDelay(10_000, 600_000) },
  concurrency: 1,
  onExhausted: (tx, { runId }, { reason }) => failRun(tx, runId, reason),
});

export const mailReportJob = defineJob({
  name: 'mail-report',
  payload,
  timeoutMs: 60_000,
  retry: { maxAttempts: 8, delayMs: doublingDelay(30_000, 3_600_000) },
  concurrency: 2,
  sharesPlaces: true,
});

const maxBackMs = 7 * dayMs;

/**
 * Starts the runs that are due.
 *
 * @param countedUntil the time up to which reports have counted everything
 * @returns how many
 */
export async function startDueRuns(
  db: Db,
  countedUntil: Date,
  signal: AbortSignal,
): Promise<number> {
  for (let started = 0; ; started += 1) {
    if (signal.aborted) return started;
    const isOne = await inTransaction(db, async (tx) => {
      const row = await lockDueReport(tx, countedUntil);
      if (row === null || row.nextAt === null || row.schedule === null) return false;
      await startScheduled(tx, row, row.schedule, row.nextAt);
      return true;
    });
    if (!isOne) return started;
  }
}

async function startScheduled(
  tx: Tx,
  row: ReportRow,
  schedule: Schedule,
  dueAt: Date,
): Promise<void> {
  const clock = scheduleClock(schedule, await readOrganizationClock(tx, row.organizationId));
  const earliestMs = Date.now() - maxBackMs;
  if (dueAt.getTime() >= earliestMs) await startRun(tx, row, dueAt);
  const afterMs = Math.max(dueAt.getTime(), earliestMs);
  await moveReport(tx, row.reportId, new Date(nextDue(schedule, clock, afterMs)));
}

/**
 * @param dueAt null for a run on request
 * @returns null if that due time already has a run
 */
export async function startRun(
  tx: Tx,
  { reportId, organizationId, range }: ReportRow,
  dueAt: Date | null,
): Promise<RunRow | null> {
  const clock = await readOrganizationClock(tx, organizationId);
  const days = completeDaysOf(range, clock, dueAt?.getTime() ?? Date.now());
  const run = await insertRun(tx, { runId: newTypeId('rrn'), reportId, dueAt, ...days });
  if (run === null) return null;
  const { runId } = run;
  await enqueue(tx, makeReportJob, { reportId, runId }, { organizationId });
  return run;
}

export function presentRun(row: RunRow) {
  const at = (moment: Date | null) => moment && formatTimestamp(moment);
  return {
    id: row.runId,
    status: row.status,
    dueAt: at(row.dueAt),
    startDate: row.startDate,
    endDate: row.endDate,
    asOf: at(row.asOf),
    error: row.error,
    madeAt: at(row.madeAt),
    mailedAt: at(row.mailedAt),
    createdAt: formatTimestamp(row.createdAt),
  };
}

export function presentMadeRun(row: MadeRun) {
  return { ...presentRun(row), data: row.data };
}
