import { Type } from 'typebox';
import { Closed, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts';
import { experimentStatuses, experimentTypes } from './experiment.ts';
import { metricNamePattern } from '../metrics/metrics.ts';
import { metricNames } from './statistics/metric-names.ts';

const Share = (description: string) => Type.Number({ minimum: 0, maximum: 1, description });

const Countries = Type.Array(Type.String({ pattern: '^[A-Z]{2}$' }), {
  maxItems: 250,
  uniqueItems: true,
  description: 'ISO 3166-1 alpha-2, in upper case. Empty: everybody.',
});
const Devices = Type.Array(OneOf(['ios', 'android', 'web'] as const), {
  maxItems: 3,
  uniqueItems: true,
});
const Segments = Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
  maxItems: 100,
  uniqueItems: true,
  description: 'Any of them. Clients tell their segments with each request.',
});

export const TargetingRules = Closed(
  {
    countries: Type.Optional(Countries),
    devices: Type.Optional(Devices),
    userSegments: Type.Optional(Segments),
  },
  { description: 'Whom the experiment is for; each list that is not empty must match.' },
);

const NewVariant = Closed({
  id: Type.String({ minLength: 1, maxLength: 100 }),
  name: Type.String({ minLength: 1, maxLength: 200 }),
  traffic: Share("Share of the experiment's viewers; all of them sum to 1."),
  config: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description:
        'What it overrides. `ranking`: `{ "weights": { … }, "objective": "learned" }`, either may be left out. `config`: settings by dotted names. ' +
        '`feature`: flags by their keys.',
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
const anyMetric = `One of \`${metricNames.join('`, `')}\`, or a metric of your own by its name.`;

const Guardrail = Closed({
  metric: MetricOf(anyMetric),
  margin: Type.Number({
    exclusiveMinimum: 0,
    maximum: 1,
    description: 'The share of the control by which it may get worse: 0.02 is 2 %.',
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
    description: 'The control is the one with the id `control`, else the first.',
  }),
  metrics: Type.Array(MetricOf(anyMetric), { minItems: 1, maxItems: 10, uniqueItems: true }),
  primaryMetric: Type.Optional(
    MetricOf('What decides about the winner. Default: the first of `metrics`.'),
  ),
  guardrails: Type.Optional(
    Type.Array(Guardrail, {
      maxItems: 10,
      description: 'Metrics beside `metrics` that a winner must not worsen by more than a margin.',
    }),
  ),
  targetingRules: Type.Optional(TargetingRules),
  targeting: Type.Optional(TargetingRules),
  endsAt: Type.Optional(Nullable(Timestamp)),
  hypothesis: Text(2_000, 'What is expected, and why.'),
  tags: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 50 }), { maxItems: 20, uniqueItems: true }),
  ),
  group: Text(
    100,
    'Running `config` and `feature` experiments of one group never have the same viewers.',
  ),
  forcedVariants: Type.Optional(
    Type.Array(Closed(ForcedVariant.properties), {
      maxItems: 100,
      description:
        'Users who see a variant for a trial, from the draft on, whatever the targeting says. They are ' +
        'not counted.',
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
  { description: 'What is allowed but will hardly give the results that are wanted.' },
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
  description: 'Why, for the log of decisions.',
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
