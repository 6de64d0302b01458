import { Type, type Static } from 'typebox';
import { Closed, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts';
import { customKindPattern, eventKinds } from '../events/events.ts';
import { directions, metricTypes, operators } from './definition.ts';

/** The form of metric names, which are keys in results. */
export const metricNamePattern = '^[A-Za-z][A-Za-z0-9_]{0,63}$';

const Field = (description: string) =>
  Type.String({ minLength: 1, maxLength: 100, pattern: '^[^\\u0000]*$', description });
export const Kind = Type.Union([OneOf(eventKinds), Type.String({ pattern: customKindPattern })], {
  description:
    'The kind of events. `POST /v1/events` accepts a kind `custom.…` once it is used here.',
});
const Scalar = Type.Union([
  Type.String({ maxLength: 1_000, pattern: '^[^\\u0000]*$' }),
  Type.Number(),
  Type.Boolean(),
]);

const ConditionBody = Closed({
  field: Field('A key of `data`.'),
  operator: OneOf(
    operators,
    '`gt`, `gte`, `lt` and `lte` compare numbers; `in` takes a list; `exists` takes true or false. ' +
      'An event without the field satisfies only `exists: false`.',
  ),
  value: Type.Union([Scalar, Type.Array(Scalar, { minItems: 1, maxItems: 100 })]),
});
export const Where = Type.Array(ConditionBody, {
  maxItems: 10,
  description: 'All conditions must hold.',
});

export const NewMetric = Closed({
  name: Type.String({
    pattern: metricNamePattern,
    description: 'Name used in experiments: letters, digits and `_`, starting with a letter.',
  }),
  description: Type.Optional(Nullable(Type.String({ maxLength: 2_000 }))),
  type: OneOf(
    metricTypes,
    '`count`: events per participant; `sum`: sum of a field per participant; `share`: share of participants ' +
      'with such an event; `mean`: mean of a field over all events; `ratio`: Σ numerator ÷ Σ denominator.',
  ),
  event: Kind,
  field: Type.Optional(Nullable(Field('The key of `data` to sum, for `sum`, `mean` and `ratio`.'))),
  where: Type.Optional(Where),
  denominator: Type.Optional(
    Nullable(
      Closed(
        {
          event: Kind,
          field: Type.Optional(Nullable(Field('The key of `data` to sum.'))),
          where: Type.Optional(Where),
        },
        { description: 'The denominator of a `ratio`.' },
      ),
    ),
  ),
  windowHours: Type.Optional(
    Nullable(
      Type.Integer({
        minimum: 1,
        maximum: 2_160,
        description:
          'Counts only events within this many hours after exposure, and only participants who were exposed at least that long ago.',
      }),
    ),
  ),
  cap: Type.Optional(
    Nullable(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: 1e9,
        description:
          'Maximum value per participant; for a `mean`, maximum value per event; for ' +
          'a `ratio`, maximum numerator. Not allowed for a `share`.',
      }),
    ),
  ),
  direction: Type.Optional(OneOf(directions, 'Which direction is better. Default: `increase`.')),
});
export type NewMetricBody = Static<typeof NewMetric>;

export const Metric = Type.Object(
  {
    id: Type.String({ examples: ['met_01kabc5m8nfe8v8q1m2vr5t9zd'] }),
    name: Type.String(),
    description: Nullable(Type.String()),
    type: OneOf(metricTypes),
    event: Type.String(),
    field: Nullable(Type.String()),
    where: Type.Array(Type.Object(ConditionBody.properties)),
    denominator: Nullable(
      Type.Object({
        event: Type.String(),
        field: Nullable(Type.String()),
        where: Type.Array(Type.Object(ConditionBody.properties)),
      }),
    ),
    windowHours: Nullable(Type.Integer()),
    cap: Nullable(Type.Number()),
    direction: OneOf(directions),
    createdAt: Timestamp,
    computedAt: Nullable(Timestamp),
  },
  { title: 'Metric' },
);

export const DeletedMetric = Type.Object({ id: Type.String(), deleted: Type.Literal(true) });
