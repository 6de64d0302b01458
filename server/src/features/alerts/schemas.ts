import { Type, type Static } from 'typebox';
import { Closed, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts';
import { filterQuery, watchedMetrics, watchedReports } from '../analytics/analytics.ts';
import { maxBackDays } from './backtest.ts';
import { changeReasons } from './queries.ts';
import { minWeeks } from './rule.ts';

const metricsOf = watchedReports.map(
  (report) =>
    `\`${report}\`: ${Object.keys(watchedMetrics[report])
      .map((metric) => `\`${metric}\``)
      .join(', ')}`,
);
const watched = {
  report: OneOf(watchedReports),
  metric: Type.String({
    maxLength: 64,
    description: `A metric of the report. ${metricsOf.join('; ')}.`,
    examples: ['errorRate'],
  }),
};
const Threshold = Closed({
  type: OneOf(['above', 'below'] as const),
  threshold: Type.Number({ minimum: 0, maximum: 1e15 }),
});
const Band = Closed(
  {
    type: Type.Literal('band'),
    direction: Type.Optional(OneOf(['above', 'below', 'both'] as const, 'Default: both.')),
    width: Type.Optional(
      Type.Number({
        minimum: 1,
        maximum: 20,
        description:
          'Half-width of the band in robust standard deviations (1.4826 × MAD). Default: 3.5.',
      }),
    ),
    weeks: Type.Optional(
      Type.Integer({
        minimum: minWeeks,
        maximum: 8,
        description: 'Number of previous weeks to compare with. Default: 4.',
      }),
    ),
    minChange: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 10,
        description: 'Minimum half-width of the band, as a share of the median. Default: 0.1.',
      }),
    ),
  },
  { description: 'Compares with the same hours of previous weeks.' },
);
const Condition = Type.Union([Threshold, Band]);

const ruleFields = {
  ...watched,
  filter: Type.Optional(Closed(filterQuery)),
  condition: Condition,
  windowHours: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 24,
      description: 'Length of the window in hours. Default: 1.',
    }),
  ),
  minData: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1e9,
      description:
        'Minimum number of plays, views, sessions or starts behind a rate, or minimum usual count for a band. Default: 100.',
    }),
  ),
  cooldownHours: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 168,
      description: 'Hours from the resolution of an alert until it may open again. Default: 6.',
    }),
  ),
  resolveAfter: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 24,
      description: 'Consecutive normal windows after which the alert is resolved. Default: 2.',
    }),
  ),
};
const name = Type.String({ minLength: 1, maxLength: 200 });

export const NewAlert = Closed({
  name,
  ...ruleFields,
  isEnabled: Type.Optional(Type.Boolean({ description: 'Default: true.' })),
});
export const AlertPatch = Closed(
  {
    ...Type.Partial(NewAlert).properties,
    filter: Type.Optional(Nullable(Closed(filterQuery))),
  },
  { minProperties: 1 },
);
export const AlertTest = Closed({
  ...ruleFields,
  days: Type.Optional(
    Type.Integer({ minimum: 1, maximum: maxBackDays, description: 'Default: 14.' }),
  ),
});
export type GivenRule = Omit<Static<typeof NewAlert>, 'name' | 'isEnabled'>;

const judged = {
  value: Nullable(Type.Number()),
  low: Nullable(Type.Number({ description: 'The alert opens below this value.' })),
  high: Nullable(Type.Number({ description: 'The alert opens above this value.' })),
};
const Judgement = Type.Object({
  verdict: OneOf(['unknown', 'fine', 'breached'] as const),
  ...judged,
  windowEnd: Timestamp,
});

export const Alert = Type.Object(
  {
    id: Type.String({ examples: ['alr_01kabc5m8nfe8v8q1m2vr5t9zd'] }),
    name: Type.String(),
    ...watched,
    filter: Type.Partial(Type.Object(filterQuery)),
    condition: Type.Union([
      Type.Object(Threshold.properties),
      Type.Required(Type.Object(Band.properties)),
    ]),
    windowHours: Type.Integer(),
    minData: Type.Integer(),
    cooldownHours: Type.Integer(),
    resolveAfter: Type.Integer(),
    isEnabled: Type.Boolean(),
    state: OneOf(['unknown', 'ok', 'firing'] as const, '`unknown`: not enough data yet.'),
    openedAt: Nullable(Timestamp),
    resolvedAt: Nullable(Timestamp),
    last: Nullable(Judgement),
    createdAt: Timestamp,
  },
  { title: 'Alert' },
);

export const AlertEvent = Type.Object(
  {
    state: OneOf(['opened', 'resolved'] as const),
    reason: OneOf(changeReasons, '`changed`, `paused`: the alert was edited.'),
    ...judged,
    windowEnd: Nullable(Timestamp),
    at: Timestamp,
  },
  { title: 'AlertEvent' },
);

export const AlertTestResult = Type.Object(
  {
    days: Type.Integer(),
    fired: Type.Integer({ description: 'How many times the alert would have opened.' }),
    hoursJudged: Type.Integer(),
    hoursBreached: Type.Integer(),
    hoursUnknown: Type.Integer({ description: 'Not enough data.' }),
    openings: Type.Array(
      Type.Object({ openedAt: Timestamp, resolvedAt: Nullable(Timestamp), ...judged }),
    ),
  },
  { title: 'AlertTest' },
);
export const DeletedAlert = Type.Object({ id: Type.String(), deleted: Type.Literal(true) });
