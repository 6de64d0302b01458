import { Type } from 'typebox';
import { Closed, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts';
import { experimentStatuses, experimentTypes } from './experiment.ts';
import { metricNamePattern } from '../metrics/metrics.ts';
import { metricNames } from './statistics/metric-names.ts';

const Share = (description: string) => Type.Number({ minimum: 0, maximum: 1, description });

const Countries = Type.Array(Type.String({ pattern: '^[A-Z]{2}$' }), {
  maxItems: 250,
  uniqueItems: true,
  description: 'Upper-case ISO 3166-1 alpha-2 codes. If empty, all countries match.',
});
const Devices = Type.Array(OneOf(['ios', 'android', 'web'] as const), {
  maxItems: 3,
  uniqueItems: true,
});
const Segments = Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
  maxItems: 100,
  uniqueItems: true,
  description:
    'Viewers in any of these segments. Clients send the segments of the viewer with each request.',
});

export const TargetingRules = Closed(
  {
    countries: Type.Optional(Countries),
    devices: Type.Optional(Devices),
    userSegments: Type.Optional(Segments),
  },
  { description: 'Audience of the experiment. Every non-empty list must match.' },
);

const NewVariant = Closed({
  id: Type.String({ minLength: 1, maxLength: 100 }),
  name: Type.String({ minLength: 1, maxLength: 200 }),
  traffic: Share("Share of the experiment's viewers. The shares of all variants sum to 1."),
  config: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description:
        'Values that the variant overrides. `ranking`: `{ "weights": { … }, "objective": "learned" }`, both optional. `config`: settings by dotted names. ' +
        '`feature`: flags by key.',
    }),
  ),
});

const Text = (maxLength: number, description: string) =>
  Type.Optional(Nullable(Type.String({ minLength: 1, maxLength, description })));

const ForcedVariant = Type.Object({
  userId: Type.String({ minLength: 1, maxLength: 200 }),
  variantId: Type.String({ minLength: 1, maxLength: 100 }),
});

const MetricOf = (description: string) =>
  Type.String({ pattern: metricNamePattern, description, examples: ['watchTime'] });
const anyMetric = `One of \`${metricNames.join('`, `')}\`, or the name of a metric that you have defined.`;

const Guardrail = Closed({
  metric: MetricOf(anyMetric),
  margin: Type.Number({
    exclusiveMinimum: 0,
    maximum: 1,
    description: 'Tolerated deterioration relative to the control: 0.02 is 2 %.',
  }),
});

const fields = {
  name: Type.String({ minLength: 1, maxLength: 200 }),
  description: Type.Optional(Nullable(Type.String({ maxLength: 2_000 }))),
  type: OneOf(experimentTypes),
  traffic: Share('Share of viewers in the experiment.'),
  variants: Type.Array(NewVariant, {
    minItems: 2,
    maxItems: 10,
    description: 'The control is the variant with the id `control`, or else the first one.',
  }),
  metrics: Type.Array(MetricOf(anyMetric), { minItems: 1, maxItems: 10, uniqueItems: true }),
  primaryMetric: Type.Optional(
    MetricOf('Metric that decides the winner. Default: the first of `metrics`.'),
  ),
  guardrails: Type.Optional(
    Type.Array(Guardrail, {
      maxItems: 10,
      description: 'Additional metrics that a winner must not worsen by more than a margin.',
    }),
  ),
  targetingRules: Type.Optional(TargetingRules),
  targeting: Type.Optional(TargetingRules),
  endsAt: Type.Optional(Nullable(Timestamp)),
  hypothesis: Text(2_000, 'The expected outcome and the reason.'),
  tags: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 50 }), { maxItems: 20, uniqueItems: true }),
  ),
  group: Text(100, 'Running `config` and `feature` experiments of one group never share viewers.'),
  forcedVariants: Type.Optional(
    Type.Array(Closed(ForcedVariant.properties), {
      maxItems: 100,
      description:
        'Users who always see a given variant, for testing: even in a draft, and regardless of targeting. They ' +
        'are not counted.',
    }),
  ),
};

export const NewExperiment = Closed({
  ...fields,
  traffic: Type.Optional(Type.Number({ minimum: 0, maximum: 1, default: 1 })),
});

export const ExperimentPatch = Closed(Type.Partial(Type.Object(fields)).properties, {
  minProperties: 1,
});

const Summary = {
  id: Type.String(),
  name: Type.String(),
  description: Nullable(Type.String()),
  hypothesis: Nullable(Type.String()),
  tags: Type.Array(Type.String()),
  group: Nullable(Type.String()),
  status: OneOf(experimentStatuses),
  type: OneOf(experimentTypes),
  traffic: Type.Number(),
  metrics: Type.Array(Type.String()),
  primaryMetric: Type.String(),
  guardrails: Type.Array(Type.Object({ metric: Type.String(), margin: Type.Number() })),
  targetingRules: Type.Object({
    countries: Type.Array(Type.String()),
    devices: Type.Array(Type.String()),
    userSegments: Type.Array(Type.String()),
  }),
  startedAt: Nullable(Timestamp),
  endsAt: Nullable(Timestamp),
  pausedAt: Nullable(Timestamp),
  endedAt: Nullable(Timestamp),
  winner: Nullable(Type.String()),
  createdAt: Timestamp,
};

const VariantSummary = { id: Type.String(), name: Type.String(), traffic: Type.Number() };

export const ExperimentSummary = Type.Object({
  ...Summary,
  variants: Type.Array(Type.Object(VariantSummary)),
});

const Config = Type.Record(Type.String(), Type.Unknown());

const warnings = Type.Array(
  Type.Object({
    code: OneOf(['ENDS_TOO_EARLY', 'NO_PLANNED_END'] as const),
    message: Type.String(),
  }),
  { description: 'Allowed settings that are unlikely to give useful results.' },
);

export const Experiment = Type.Object({
  ...Summary,
  forcedVariants: Type.Array(ForcedVariant),
  warnings,
  variants: Type.Array(Type.Object({ ...VariantSummary, config: Config })),
});

export const ExperimentDetails = Type.Object({
  ...Summary,
  forcedVariants: Type.Array(ForcedVariant),
  warnings,
  variants: Type.Array(
    Type.Object({ ...VariantSummary, config: Config, participants: Type.Integer() }),
  ),
});

export const Note = Type.String({
  minLength: 1,
  maxLength: 2_000,
  description: 'Reason, recorded in the decision log.',
});

export const Started = Type.Object({
  id: Type.String(),
  status: Type.Literal('running'),
  startedAt: Timestamp,
});

export const StopRequest = Closed({
  winner: Type.Optional(
    Type.String({ minLength: 1, maxLength: 100, description: 'Variant to roll out.' }),
  ),
  reason: Type.Optional(Type.String({ maxLength: 2_000 })),
});

export const Stopped = Type.Object({
  id: Type.String(),
  status: Type.Literal('stopped'),
  stoppedAt: Timestamp,
  winner: Nullable(Type.String()),
  reason: Nullable(Type.String()),
});

export const RolloutRequest = Closed({ winner: Type.String({ minLength: 1, maxLength: 100 }) });

export const RolledOut = Type.Object({
  id: Type.String(),
  status: OneOf(experimentStatuses),
  winner: Type.String(),
  rolledOutAt: Timestamp,
});

export const Deleted = Type.Object({ id: Type.String(), deleted: Type.Literal(true) });
