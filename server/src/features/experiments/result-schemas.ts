/** The schemas of results and plans. */
import { Type } from 'typebox';
import { Closed, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts';
import { experimentStatuses } from './experiment.ts';
import { TargetingRules } from './schemas.ts';
import { metricNames } from './statistics/analysis.ts';

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
  inference: Type.Optional(
    Type.Object(
      {
        kind: OneOf(['planned_end', 'always_valid'] as const),
        sampleFactor: Nullable(Type.Number()),
      },
      {
        description:
          'How results are judged: at looks up to `endsAt`, or whenever they are read. The second way ' +
          'takes `sampleFactor` times as many participants for the same effect, by the number of ' +
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
    unitsPerDay: Type.Number({ description: 'Different viewers of seven days, divided by seven.' }),
    newUnitsPerDay: Type.Number({ description: 'Viewers of a day whom no day before has seen.' }),
  }),
  unitsPerVariant: Nullable(Type.Integer({ description: 'With a planned end.' })),
  days: Nullable(
    Type.Integer({ description: 'Until so many different viewers have come; null beyond a year.' }),
  ),
  endsAt: Nullable(
    Type.Unsafe<string>({
      ...Timestamp,
      description: 'An end for an experiment that starts today: a midnight of your time zone.',
    }),
  ),
  withoutEnd: Nullable(
    Type.Object(
      { unitsPerVariant: Type.Integer(), days: Nullable(Type.Integer()) },
      { description: 'What the same effect takes without `endsAt`.' },
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
