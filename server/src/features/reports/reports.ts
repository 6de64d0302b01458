/** Saved reports: an analytics report with its query, range and schedule, stored under a name. */
import type { Static } from 'typebox';
import type { Db, Tx } from '../../platform/database/database.ts';
import { ApiError, fieldError } from '../../platform/http/errors.ts';
import { newTypeId, parseTypeId, type OrganizationId } from '../../platform/values/ids.ts';
import { formatTimestamp } from '../../platform/values/time.ts';
import { clockOf, isTimeZone, type ZoneClock } from '../../platform/values/zone-clock.ts';
import { parametersOf, readBreakdown, readFilter } from '../analytics/analytics.ts';
import { readOrganizationClock } from '../organizations/organizations.ts';
import {
  deleteReportRow,
  findReport,
  insertReport,
  lockReport,
  lockReports,
  updateReport,
  type ReportId,
  type ReportRow,
} from './queries.ts';
import type { NewReport, ReportPatch } from './schemas.ts';
import { nextDue, type Schedule } from './schedule.ts';

export const maxReports = 100;

type Given = Static<typeof NewReport>;
type Checked = Pick<
  ReportRow,
  'name' | 'report' | 'query' | 'range' | 'schedule' | 'recipients' | 'postsWebhook' | 'isEnabled'
>;

/** @param hasMail whether mails can be sent */
function readReport(given: Given, hasMail: boolean): Checked {
  const { name, report, query = {}, range = 'last7Days', schedule = null, recipients = [] } = given;
  const allowed = parametersOf(report);
  for (const parameter of Object.keys(query)) {
    if (!allowed.includes(parameter)) {
      throw fieldError(`query.${parameter}`, `is not a parameter of ${report}`);
    }
  }
  // Hourly data is kept for 90 days including today, and an hourly report covers a month.
  if (range === 'last90Days' && (report === 'hours' || query['granularity'] === 'hour')) {
    throw fieldError('range', 'is too long for hourly granularity');
  }
  readFilter(query, 'query');
  readBreakdown(query);
  if (schedule?.timeZone !== undefined && !isTimeZone(schedule.timeZone)) {
    throw fieldError('schedule.timeZone', 'must be an IANA time zone name');
  }
  if (recipients.length > 0 && !hasMail) {
    throw fieldError('recipients', 'no mail server is configured (REELFEED_SMTP_URL)');
  }
  const { postsWebhook = false, isEnabled = true } = given;
  return { name, report, query, range, schedule, recipients, postsWebhook, isEnabled };
}

function dueAfter(
  schedule: Schedule | null,
  organizationClock: ZoneClock,
  afterMs: number,
): Date | null {
  if (schedule === null) return null;
  return new Date(nextDue(schedule, scheduleClock(schedule, organizationClock), afterMs));
}

export function scheduleClock({ timeZone }: Schedule, organizationClock: ZoneClock): ZoneClock {
  return timeZone === undefined ? organizationClock : clockOf(timeZone);
}

/** @throws ApiError VALIDATION_ERROR, LIMIT_EXCEEDED */
export async function createReport(
  tx: Tx,
  organizationId: OrganizationId,
  given: Given,
  hasMail: boolean,
): Promise<ReportRow> {
  const checked = readReport(given, hasMail);
  if ((await lockReports(tx, organizationId)) >= maxReports) {
    throw new ApiError('LIMIT_EXCEEDED', {
      message: `An organization can have at most ${maxReports} saved reports.`,
    });
  }
  const clock = await readOrganizationClock(tx, organizationId);
  const nextAt = dueAfter(checked.schedule, clock, Date.now());
  return insertReport(tx, { ...checked, reportId: newTypeId('rpt'), organizationId, nextAt });
}

/**
 * Changes a report. Its next due time is computed from now.
 *
 * @throws ApiError NOT_FOUND, VALIDATION_ERROR
 */
export async function changeReport(
  tx: Tx,
  { organizationId, id }: { readonly organizationId: OrganizationId; readonly id: string },
  patch: Static<typeof ReportPatch>,
  hasMail: boolean,
): Promise<ReportRow> {
  const row = await lockReport(tx, organizationId, parseReportId(id));
  if (row === null) throw noSuchReport();
  const before: Given = { ...row, recipients: [...row.recipients] };
  const { name, report, query, range, schedule, recipients, postsWebhook, isEnabled } = before;
  const whole = { name, report, query, range, schedule, recipients, postsWebhook, isEnabled };
  const checked = readReport({ ...whole, ...patch } as Given, hasMail);
  const clock = await readOrganizationClock(tx, organizationId);
  const changed = { ...row, ...checked, nextAt: dueAfter(checked.schedule, clock, Date.now()) };
  await updateReport(tx, changed);
  return changed;
}

/** @throws ApiError NOT_FOUND */
export async function deleteReport(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
): Promise<ReportId> {
  const row = await lockReport(tx, organizationId, parseReportId(id));
  if (row === null) throw noSuchReport();
  await deleteReportRow(tx, row.reportId);
  return row.reportId;
}

/** @throws ApiError NOT_FOUND */
export async function requireReport(
  db: Db,
  organizationId: OrganizationId,
  id: string,
): Promise<ReportRow> {
  const row = await findReport(db, organizationId, parseReportId(id));
  if (row === null) throw noSuchReport();
  return row;
}

function parseReportId(id: string): ReportId {
  const reportId = parseTypeId('rpt', id);
  if (reportId === null) throw noSuchReport();
  return reportId;
}

function noSuchReport(): ApiError {
  return new ApiError('NOT_FOUND', { message: 'There is no report with this id.' });
}

export function presentReport(row: ReportRow) {
  return {
    id: row.reportId,
    name: row.name,
    report: row.report,
    query: row.query,
    range: row.range,
    schedule: row.schedule,
    recipients: [...row.recipients],
    postsWebhook: row.postsWebhook,
    isEnabled: row.isEnabled,
    nextAt: row.isEnabled && row.nextAt !== null ? formatTimestamp(row.nextAt) : null,
    createdAt: formatTimestamp(row.createdAt),
  };
}
