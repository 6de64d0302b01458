/** Creates runs of saved reports, announces them to webhooks, and mails them. */
import type { Db } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/http/errors.ts';
import type { OrganizationId } from '../../platform/values/ids.ts';
import { done, handle, skipped, type HandledJob } from '../../platform/queue/job-handler.ts';
import { enqueue } from '../../platform/queue/queue.ts';
import type { RunReport } from '../analytics/analytics.ts';
import { recordEvent, type SendMail } from '../webhooks/webhooks.ts';
import {
  failRun,
  findReport,
  findRun,
  finishRun,
  noteMailed,
  type MadeRun,
  type ReportRow,
} from './queries.ts';
import { mailReportJob, makeReportJob } from './runs.ts';

export type ReportJobParts = {
  readonly db: Db;
  readonly runReport: RunReport;
  readonly publicUrl: string;
  readonly sendMail: SendMail | null;
};

const maxEventBytes = 64 * 1024;

export function makeHandler({ db, runReport, publicUrl }: ReportJobParts): HandledJob {
  return handle(makeReportJob, async ({ reportId, runId }, context) => {
    const organizationId = context.organizationId as OrganizationId;
    const row = await findReport(db, organizationId, reportId);
    const run = await findRun(db, reportId, runId);
    if (row === null || run?.status !== 'pending') return skipped('there is no run to make');
    const { startDate, endDate } = run;
    let made;
    try {
      made = await runReport(organizationId, row.report, { ...row.query, startDate, endDate });
    } catch (error) {
      // The query can no longer be answered, for example because its hours have expired.
      if (!(error instanceof ApiError) || error.statusCode >= 500) throw error;
      await context.finish((tx) => failRun(tx, runId, error.message));
      return done;
    }
    const { data, csv, asOf } = made;
    await context.finish(async (tx) => {
      if (!(await finishRun(tx, runId, { data, csv, asOf: new Date(asOf) }))) return;
      if (row.postsWebhook) {
        await recordEvent(tx, organizationId, 'analytics.report', {
          reportId,
          runId,
          name: row.name,
          report: row.report,
          startDate,
          endDate,
          dueAt: run.dueAt?.toISOString() ?? null,
          asOf,
          url: consoleUrl(publicUrl),
          data: Buffer.byteLength(JSON.stringify(data)) <= maxEventBytes ? data : null,
        });
      }
      if (row.recipients.length > 0) {
        await enqueue(tx, mailReportJob, { reportId, runId }, { organizationId });
      }
    });
    return done;
  });
}

export function mailHandler({ db, publicUrl, sendMail }: ReportJobParts): HandledJob {
  return handle(mailReportJob, async ({ reportId, runId }, context) => {
    if (sendMail === null) return skipped('no mail server is configured');
    const row = await findReport(db, context.organizationId, reportId);
    const run = await findRun(db, reportId, runId);
    if (row === null || run?.status !== 'ready') return skipped('there is no result to mail');
    if (run.mailedAt !== null) return skipped('it has already been mailed');
    await sendMail({
      to: row.recipients,
      id: `report-${runId}`,
      subject: `${row.name}: ${daysText(run)}`,
      text: mailText(row, run, publicUrl),
      attachments: [{ name: `${row.report}-${run.endDate}.csv`, csv: run.csv ?? '' }],
    });
    await context.finish((tx) => noteMailed(tx, runId));
    return done;
  });
}

export function consoleUrl(publicUrl: string): string {
  return `${publicUrl}/console/#/saved-reports`;
}

export function daysText({ startDate, endDate }: Pick<MadeRun, 'startDate' | 'endDate'>): string {
  return startDate === endDate ? startDate : `${startDate} to ${endDate}`;
}

function mailText(row: ReportRow, run: MadeRun, publicUrl: string): string {
  const numbers = summaryOf(run.data).map(([name, value]) => `${name}: ${value}`);
  return [
    `${row.name} (${row.report}), ${daysText(run)}`,
    ...(numbers.length === 0 ? [] : [numbers.join('\n')]),
    'The rows are attached as CSV.',
    `Includes everything counted up to ${run.asOf?.toISOString() ?? 'now'}.`,
    consoleUrl(publicUrl),
  ].join('\n\n');
}

/** The scalar values of a report's summary, if it has one. */
function summaryOf(data: object | null): [name: string, value: string][] {
  const { summary } = (data ?? {}) as { summary?: Readonly<Record<string, unknown>> };
  return Object.entries(summary ?? {}).flatMap(([name, value]): [string, string][] =>
    typeof value === 'number' ? [[name, String(Number(value.toFixed(4)))]] : [],
  );
}
