/**
 * Scheduled exports: one export per day, once the day is over by the organization's clock.
 *
 * 1. Creating the export of a day and moving to the next day is one transaction, so each day gets
 *    exactly one export even after a crash. Missed days are made up for, one after another.
 * 2. Scheduled exports count towards the limit: while ten are unfinished, the next ones wait.
 */
import { inTransaction, type Db, type Tx } from '../../../platform/database/database.ts';
import { ApiError, fieldError } from '../../../platform/http/errors.ts';
import { newTypeId, parseTypeId, type OrganizationId } from '../../../platform/values/ids.ts';
import { dayMs, formatTimestamp } from '../../../platform/values/time.ts';
import { readOrganizationClock } from '../../organizations/organizations.ts';
import { createExport, readDay, readExportFilter, type NewExport } from '../exports.ts';
import {
  deleteScheduleRow,
  insertSchedule,
  lockDueSchedule,
  lockSchedules,
  moveSchedule,
  type ScheduleRow,
} from './schedule-queries.ts';

export type NewSchedule = Omit<NewExport, 'startDate' | 'endDate'> & {
  readonly delayHours?: number;
  readonly startDate?: string;
};

const maxSchedules = 20;
const maxBackDays = 366;

/** @throws ApiError VALIDATION_ERROR, LIMIT_EXCEEDED */
export async function createSchedule(
  tx: Tx,
  organizationId: OrganizationId,
  wanted: NewSchedule,
): Promise<ScheduleRow> {
  const { dataset, format, compression = 'none', delayHours = 1, startDate } = wanted;
  const filter = readExportFilter(dataset, wanted.filter);
  const clock = await readOrganizationClock(tx, organizationId);
  const today = Math.floor(clock.localOf(Date.now()) / dayMs) * dayMs;
  const first = startDate === undefined ? today : readDay('startDate', startDate);
  if (first < today - maxBackDays * dayMs || first > today + maxBackDays * dayMs) {
    throw fieldError('startDate', `must be at most ${maxBackDays} days from today`);
  }
  if ((await lockSchedules(tx, organizationId)) >= maxSchedules) {
    throw new ApiError('LIMIT_EXCEEDED', {
      message: `An organization can have at most ${maxSchedules} export schedules.`,
    });
  }
  return insertSchedule(tx, {
    schedule_id: newTypeId('dxs'),
    organization_id: organizationId,
    dataset,
    format,
    compression,
    filter,
    delay_hours: delayHours,
    next_day: new Date(first).toISOString().slice(0, 10),
  });
}

/** @throws ApiError NOT_FOUND */
export async function deleteSchedule(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
): Promise<string> {
  const scheduleId = parseTypeId('dxs', id);
  if (scheduleId === null || !(await deleteScheduleRow(tx, organizationId, scheduleId))) {
    throw new ApiError('NOT_FOUND', { message: 'There is no export schedule with this id.' });
  }
  return scheduleId;
}

export function presentSchedule(row: ScheduleRow) {
  return {
    id: row.schedule_id,
    dataset: row.dataset,
    format: row.format,
    compression: row.compression,
    filter: row.filter,
    delayHours: row.delay_hours,
    nextDate: row.next_day,
    createdAt: formatTimestamp(row.created_at),
  };
}

/** Creates the exports that are due. @param onQueued is called if there are any */
export async function runSchedules(
  db: Db,
  onQueued: () => void,
  signal: AbortSignal,
): Promise<void> {
  const busy: OrganizationId[] = [];
  for (let isOver = false; !isOver && !signal.aborted;) {
    isOver = await inTransaction(db, async (tx) => {
      const row = await lockDueSchedule(tx, busy);
      if (row === null) return true;
      const { dataset, format, compression, filter, next_day: day } = row;
      const wanted = { dataset, format, compression, filter, startDate: day, endDate: day };
      try {
        await createExport(tx, row.organization_id, wanted, row.schedule_id);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        // Too many are unfinished. Nothing has been written yet.
        busy.push(row.organization_id);
        return false;
      }
      await moveSchedule(tx, row.schedule_id);
      return false;
    });
    if (!isOver) onQueued();
  }
}
