/** The schemas of results and plans. */
import { Type } from 'typebox';
import { Closed, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts';
import { experimentStatuses } from './experiment.ts';
import { TargetingRules } from './schemas.ts';
import { metricNames } from './statistics/metric-names.ts';

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
    description: '1 − p of the comparison that the variant takes part in, after all corrections.',
  }),
  reason: Reason,
  lift: Type.Optional(Nullable(Type.Number({ description: 'Relative to the control.' }))),
  significant: Type.Optional(Type.Boolean()),
  pValue: Type.Optional(Nullable(Type.Number())),
  interval: Type.Optional(Interval),
  liftInterval: Type.Optional(Interval),
});

export const Results = Type.Object({
  experimentId: Type.String(),
  status: OneOf(experimentStatuses),
  duration: Type.Object({ days: Type.Integer(), startedAt: Nullable(Timestamp) }),
  asOf: Nullable(Timestamp),
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
              '`passed`: surely not worse by the margin. `harmed`: surely worse by more than it; ' +
                'that is looked for every 30 seconds, also between looks.',
            ),
            lift: Nullable(Type.Number()),
            liftInterval: Interval,
            harmedAt: Nullable(Timestamp),
          }),
        ),
      }),
      { description: 'Of treatments; missing in results that were frozen without any.' },
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

export const PlanRequest = Closed({
  metric: OneOf(metricNames),
  effect: Type.Number({
    exclusiveMinimum: 0,
    maximum: 100,
    description: 'Relative: 0.05 is 5 % more than now.',
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
    unitsPerDay: Type.Number(),
  }),
  unitsPerVariant: Nullable(Type.Integer()),
  days: Nullable(Type.Integer()),
  reason: Nullable(OneOf(['no_data', 'zero_baseline', 'zero_variance'] as const)),
});
