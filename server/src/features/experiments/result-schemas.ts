import { Type } from 'typebox';
import { Closed, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts';
import { experimentStatuses } from './experiment.ts';
import { TargetingRules } from './schemas.ts';
import { metricNames } from './statistics/metric-names.ts';
import { segmentNames } from './breakdown.ts';
import { metricNamePattern } from '../metrics/metrics.ts';

const Interval = Nullable(Type.Array(Type.Number(), { minItems: 2, maxItems: 2 }));
const Reason = Nullable(
  OneOf([
    'min_runtime',
    'min_sample',
    'srm',
    'not_significant',
    'guardrail',
    'no_data',
    'zero_variance',
    'zero_baseline',
  ] as const),
);

const MetricResult = Type.Object({
  value: Type.Number(),
  confidence: Type.Number({
    description: '1 − p of the comparison that the variant is part of, after all corrections.',
  }),
  reason: Reason,
  lift: Type.Optional(Nullable(Type.Number({ description: 'Relative to the control.' }))),
  significant: Type.Optional(Type.Boolean()),
  pValue: Type.Optional(Nullable(Type.Number())),
  interval: Type.Optional(Interval),
  liftInterval: Type.Optional(Interval),
});

const Results = Type.Object({
  experimentId: Type.String(),
  status: OneOf(experimentStatuses),
  duration: Type.Object({ days: Type.Integer(), startedAt: Nullable(Timestamp) }),
  asOf: Nullable(Timestamp),
  inference: Type.Optional(
    Type.Object(
      {
        kind: OneOf(['planned_end', 'always_valid'] as const),
        sampleFactor: Nullable(Type.Number()),
      },
      {
        description:
          'How results are evaluated: at planned looks up to `endsAt`, or whenever they are read. The latter ' +
          'needs `sampleFactor` times as many participants for the same effect, given the number of ' +
          'participants so far.',
      },
    ),
  ),
  variants: Type.Array(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      participants: Type.Integer(),
      metrics: Type.Record(Type.String(), MetricResult),
    }),
  ),
  recommendation: Type.Object({
    winner: Nullable(Type.String()),
    confidence: Type.Number(),
    minimumDetectableEffect: Nullable(Type.Number()),
    reason: Reason,
  }),
  guardrails: Type.Optional(
    Type.Array(
      Type.Object({
        metric: Type.String(),
        margin: Type.Number(),
        variants: Type.Array(
          Type.Object({
            id: Type.String(),
            status: OneOf(
              ['passed', 'harmed', 'undecided'] as const,
              '`passed`: significantly better than the margin allows. `harmed`: significantly worse than the margin allows, ' +
                'which is checked every 30 seconds, also between looks.',
            ),
            lift: Nullable(Type.Number()),
            liftInterval: Interval,
            harmedAt: Nullable(Timestamp),
          }),
        ),
      }),
      {
        description:
          'Guardrail results of treatments; absent in results that were frozen without any.',
      },
    ),
  ),
  health: Type.Object({
    srm: Type.Object({
      pValue: Type.Number(),
      ok: Type.Boolean(),
      segments: Type.Array(
        Type.Object({
          dimension: OneOf(['country', 'device'] as const),
          value: Type.String(),
          pValue: Type.Number(),
        }),
      ),
    }),
    unitsInSeveralVariants: Type.Integer(),
  }),
});

const SegmentVariant = Type.Object({
  id: Type.String(),
  participants: Type.Integer(),
  ...MetricResult.properties,
});

const Segments = Type.Object(
  {
    dimension: OneOf(segmentNames),
    metric: Type.String(),
    correction: OneOf(
      ['holm'] as const,
      'All comparisons in the table are one family, corrected with the Holm method.',
    ),
    comparisons: Type.Integer({ description: 'Number of comparisons in the family.' }),
    leftOut: Type.Integer({ description: 'Number of smaller segments left out of the table.' }),
    values: Type.Array(Type.Object({ value: Type.String(), variants: Type.Array(SegmentVariant) })),
  },
  {
    description:
      'With `segment`. Participants are grouped by their segment at the time of exposure, as it is known now.',
  },
);

const TimelinePoints = Type.Object(
  {
    metric: Type.String(),
    points: Type.Array(
      Type.Object({
        date: Type.String({ format: 'date' }),
        variants: Type.Array(
          Type.Object({
            id: Type.String(),
            participants: Type.Integer(),
            value: Type.Number(),
            lift: Nullable(Type.Number()),
            liftInterval: Interval,
          }),
        ),
      }),
      {
        description:
          'Results as of the end of each UTC day, at most the last 34 days, and as of now. The intervals of all ' +
          'points hold simultaneously.',
      },
    ),
    novelty: Type.Array(
      Type.Object({
        variant: Type.String(),
        earlyLift: Type.Number(),
        lateLift: Type.Number(),
        pValue: Type.Number(),
        isFading: Type.Boolean({
          description: 'The effect in the second half is significantly smaller.',
        }),
      }),
      {
        description:
          'Compares the first half of the days with the second half. Empty before the fourth day.',
      },
    ),
  },
  { description: 'With `granularity`.' },
);

export const ResultsQuery = Closed({
  segment: Type.Optional(OneOf(segmentNames, 'Adds the results of one metric by segment.')),
  granularity: Type.Optional(OneOf(['day'] as const, 'Adds the results of one metric by day.')),
  metric: Type.Optional(
    Type.String({
      pattern: metricNamePattern,
      description:
        'The metric for `segment` and `granularity`, which need not belong to the experiment. ' +
        'Default: its primary metric.',
    }),
  ),
});

export const ResultsAnswer = Type.Object({
  ...Results.properties,
  segments: Type.Optional(Segments),
  timeline: Type.Optional(TimelinePoints),
});

export const PlanRequest = Closed({
  metric: OneOf(metricNames),
  effect: Type.Number({
    exclusiveMinimum: 0,
    maximum: 100,
    description: 'Relative change: 0.05 is an increase of 5 %.',
  }),
  variants: Type.Optional(Type.Integer({ minimum: 2, maximum: 10, default: 2 })),
  traffic: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 1, default: 1 })),
  power: Type.Optional(Type.Number({ minimum: 0.5, maximum: 0.999, default: 0.8 })),
  alpha: Type.Optional(Type.Number({ minimum: 0.0001, maximum: 0.5, default: 0.05 })),
  targetingRules: Type.Optional(TargetingRules),
});

export const Plan = Type.Object({
  baseline: Type.Object({
    mean: Nullable(Type.Number()),
    standardDeviation: Nullable(Type.Number()),
    unitsPerDay: Type.Number({
      description: 'Distinct viewers over seven days, divided by seven.',
    }),
    newUnitsPerDay: Type.Number({
      description: 'Viewers per day who were not seen on any earlier day.',
    }),
  }),
  unitsPerVariant: Nullable(
    Type.Integer({ description: 'Participants needed with a planned end.' }),
  ),
  days: Nullable(
    Type.Integer({
      description:
        'Days until that many distinct viewers have been seen; null if more than a year.',
    }),
  ),
  endsAt: Nullable(
    Type.Unsafe<string>({
      ...Timestamp,
      description: 'Suggested end of an experiment that starts today: midnight in your time zone.',
    }),
  ),
  withoutEnd: Nullable(
    Type.Object(
      { unitsPerVariant: Type.Integer(), days: Nullable(Type.Integer()) },
      { description: 'Requirements for the same effect without `endsAt`.' },
    ),
  ),
  reason: Nullable(
    OneOf([
      'no_data',
      'zero_baseline',
      'zero_variance',
      'short_history',
      'too_few_viewers',
    ] as const),
  ),
});
