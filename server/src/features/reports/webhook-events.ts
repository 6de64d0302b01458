import { Type } from 'typebox';
import { Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts';
import { runnableReportNames } from '../analytics/analytics.ts';
import { webhookEvent, type EventsOf } from '../webhooks/webhooks.ts';

export const reportEvents = {
  'analytics.report': webhookEvent(
    'A saved report is ready.',
    Type.Object({
      reportId: Type.String(),
      runId: Type.String(),
      name: Type.String(),
      report: OneOf(runnableReportNames),
      startDate: Type.String(),
      endDate: Type.String(),
      dueAt: Nullable(Timestamp),
      asOf: Timestamp,
      url: Type.String({ description: 'URL of the reports in the console.' }),
      data: Nullable(
        Type.Object(
          {},
          {
            additionalProperties: true,
            description:
              'The response of the report. Null if it exceeds 64 KiB; `GET /v1/analytics/reports/{id}/runs/{runId}` returns it.',
          },
        ),
      ),
    }),
    {
      reportId: 'rpt_00000000000000000000000000',
      runId: 'rrn_00000000000000000000000000',
      name: 'Plays of the week',
      report: 'overview',
      startDate: '2026-01-19',
      endDate: '2026-01-25',
      dueAt: '2026-01-26T06:00:00.000Z',
      asOf: '2026-01-26T06:00:05.000Z',
      url: 'https://video.example.com/console/#/saved-reports',
      data: { summary: { plays: 39977 } },
    },
  ),
};

declare module '../webhooks/webhooks.ts' {
  interface EventData extends EventsOf<typeof reportEvents> {}
}
