/**
 * Runs of saved reports: what a report said at a due time.
 *
 * 1. The run of a due time and the move to the next one are one transaction, and a due time has one run at
 *    most, so each gets exactly one, whatever is killed.
 * 2. A run is made by a job. Its result, the event for webhooks and the job that mails it are one
 *    transaction. A mail may be sent twice where a kill comes between the mail server's answer and ours;
 *    both have the same Message-ID.
 * 3. A run waits until the reports have counted everything that was answered before its due time.
 * 4. Due times that nobody was there for are made up for, those of the last seven days.
 */
import { Type } from 'typebox';
import { inTransaction, type Db, type Tx } from '../../platform/database/database.ts';
import { newTypeId } from '../../platform/ids.ts';
import { defineJob, doublingDelay } from '../../platform/queue/job-definition.ts';
import { enqueue } from '../../platform/queue/queue.ts';
import { dayMs, formatTimestamp } from '../../platform/time.ts';
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
import { daysOf, nextDue, type Schedule } from './schedule.ts';

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
 * @param countedUntil the moment up to which reports have counted everything
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

/** @param dueAt null for a run that was asked for @returns null where that due time has a run already */
export async function startRun(
  tx: Tx,
  { reportId, organizationId, range }: ReportRow,
  dueAt: Date | null,
): Promise<RunRow | null> {
  const clock = await readOrganizationClock(tx, organizationId);
  const days = daysOf(range, clock, dueAt?.getTime() ?? Date.now());
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
