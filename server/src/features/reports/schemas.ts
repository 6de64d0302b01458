import { Type } from 'typebox';
import { Closed, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts';
import { secretValue } from '../../platform/http/secret-fields.ts';
import { runnableReportNames, savedParameters } from '../analytics/analytics.ts';
import { ranges } from './schedule.ts';

const hour = Type.Integer({ minimum: 0, maximum: 23, description: 'Hour of the day.' });
const timeZone = Type.Optional(
  Type.String({
    maxLength: 64,
    description: 'IANA time zone of `hour`. Default: that of the organization.',
    examples: ['Europe/Berlin'],
  }),
);
export const ReportSchedule = Type.Union([
  Closed({ every: Type.Literal('day'), hour, timeZone }),
  Closed({
    every: Type.Literal('week'),
    weekday: Type.Integer({ minimum: 1, maximum: 7, description: '1 is Monday.' }),
    hour,
    timeZone,
  }),
  Closed({
    every: Type.Literal('month'),
    day: Type.Integer({ minimum: 1, maximum: 28 }),
    hour,
    timeZone,
  }),
]);

const name = Type.String({ minLength: 1, maxLength: 200 });
const report = OneOf(runnableReportNames, 'The report, as in `GET /v1/analytics/{report}`.');
const range = OneOf(
  ranges,
  'Complete days in the time zone of the organization. `lastWeek` starts on a Monday. Default: last7Days.',
);
const query = Closed(savedParameters, {
  description: 'The query parameters of the report, except its days.',
});
const recipients = Type.Array(
  Type.String({ maxLength: 254, pattern: '^[^\\s@<>,;"]+@[^\\s@<>,;"]+$' }),
  {
    maxItems: 20,
    description: 'Email addresses of the recipients.',
    examples: [['ada@example.com']],
  },
);
const postsWebhook = Type.Boolean({
  description: 'Whether webhooks are notified with `analytics.report`. Default: false.',
});

export const NewReport = Closed({
  name,
  report,
  query: Type.Optional(query),
  range: Type.Optional(range),
  schedule: Type.Optional(Nullable(ReportSchedule)),
  recipients: Type.Optional(recipients),
  postsWebhook: Type.Optional(postsWebhook),
  isEnabled: Type.Optional(
    Type.Boolean({ description: 'Whether the schedule is active. Default: true.' }),
  ),
});
export const ReportPatch = Closed(Type.Partial(NewReport).properties, { minProperties: 1 });

export const SavedReport = Type.Object(
  {
    id: Type.String({ examples: ['rpt_01kabc5m8nfe8v8q1m2vr5t9zd'] }),
    name,
    report,
    query: Type.Object({}, { additionalProperties: true }),
    range,
    schedule: Nullable(Type.Object({}, { additionalProperties: true })),
    recipients,
    postsWebhook: Type.Boolean(),
    isEnabled: Type.Boolean(),
    nextAt: Nullable(Timestamp),
    createdAt: Timestamp,
  },
  { title: 'SavedReport' },
);

const run = {
  id: Type.String({ examples: ['rrn_01kabc5m8nfe8v8q1m2vr5t9zd'] }),
  status: OneOf(['pending', 'ready', 'failed'] as const),
  dueAt: Nullable(
    Type.String({
      format: 'date-time',
      description: 'Null for a run that was requested manually.',
    }),
  ),
  startDate: Type.String({ examples: ['2026-01-31'] }),
  endDate: Type.String({ examples: ['2026-01-31'] }),
  asOf: Nullable(Timestamp),
  error: Nullable(Type.String()),
  madeAt: Nullable(Timestamp),
  mailedAt: Nullable(Timestamp),
  createdAt: Timestamp,
};
export const Run = Type.Object(run, { title: 'ReportRun' });
export const RunWithData = Type.Object(
  {
    ...run,
    data: Nullable(
      Type.Object(
        {},
        {
          additionalProperties: true,
          description: 'The response of the report. Null until it is ready.',
        },
      ),
    ),
  },
  { title: 'ReportRunWithData' },
);

export const RunParams = Type.Object({
  id: Type.String({ maxLength: 512 }),
  runId: Type.String({ maxLength: 512 }),
});

export const Link = Type.Object(
  {
    id: Type.String({ examples: ['rln_01kabc5m8nfe8v8q1m2vr5t9zd'] }),
    url: Type.String({
      ...secretValue,
      description:
        'URL that shows the report to anyone who has it. With `?format=csv` or `?format=json`, it returns data.',
    }),
    createdAt: Timestamp,
    expiresAt: Timestamp,
  },
  { title: 'ReportLink' },
);
export const LinkParams = Type.Object({
  id: Type.String({ maxLength: 512 }),
  linkId: Type.String({ maxLength: 512 }),
});
export const NewLink = Closed({
  expiresInDays: Type.Optional(Type.Integer({ minimum: 1, maximum: 365, default: 30 })),
});
export const DeletedReport = Type.Object({ id: Type.String(), deleted: Type.Literal(true) });
