/** Schemas of questions about sequences of events, and of their responses. */
import { Type } from 'typebox';
import { Closed, Nullable, OneOf } from '../../platform/http/schemas.ts';
import { cohortKinds } from './cohorts.ts';
import { breakdownField, selectionFields } from './dimensions.ts';
import { Matched, MatchedAny } from './matcher.ts';

const day = (description: string) =>
  Type.Optional(Type.String({ description, maxLength: 10, examples: ['2026-01-31'] }));
const period = {
  startDate: day('First day of the range. Default: 29 days before `endDate`.'),
  endDate: day('Last day of the range, inclusive. The range is at most 366 days. Default: today.'),
};
const limit = (what: string) =>
  Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 50,
      description: `Maximum number of ${what}. Default: 10.`,
    }),
  );
const count = (description?: string) =>
  Type.Integer({ minimum: 0, ...(description !== undefined && { description }) });
const share = (description: string) =>
  Nullable(Type.Number({ minimum: 0, maximum: 1, description }));

const value = Nullable(Type.String({ description: 'Null if the event does not have it.' }));
const otherValues = count('Number of breakdown values that are not listed.');

export const FunnelBody = Closed({
  ...period,
  steps: Type.Array(Matched, { minItems: 2, maxItems: 8, description: 'Steps in order.' }),
  windowHours: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 720,
      description:
        'Hours after the first step within which all steps must happen. If omitted, all steps must happen in one session.',
    }),
  ),
  ...selectionFields,
  ...breakdownField('Breaks the funnel down by a dimension of its first event.'),
  limit: limit('breakdown values'),
});

const Step = Type.Object({
  event: Type.String(),
  viewers: count('Distinct viewers who reached the step.'),
  sessions: Nullable(count('Sessions that reached the step; null with `windowHours`.')),
  fromPrevious: share('Share of viewers at the previous step; null for the first step.'),
  fromFirst: share('Share of viewers at the first step.'),
  dropOff: count('Decrease from the previous step.'),
  medianSeconds: Nullable(
    Type.Number({ minimum: 0, description: 'Median time since the previous step.' }),
  ),
});
export const Funnels = Type.Object({
  steps: Type.Array(Step),
  breakdown: Nullable(Type.Array(Type.Object({ value, steps: Type.Array(Step) }))),
  otherValues,
});

export const PathBody = Closed({
  ...period,
  anchor: Closed(Matched.properties, { description: 'Event at which paths start or end.' }),
  direction: Type.Optional(
    OneOf(
      ['after', 'before'] as const,
      'Whether to follow the events after or before the anchor. Default: after.',
    ),
  ),
  steps: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 6,
      description: 'Number of events to follow. Default: 3.',
    }),
  ),
  byItem: Type.Optional(
    Type.Boolean({ description: 'Whether to distinguish items. Default: false.' }),
  ),
  exclude: Type.Optional(
    Type.Array(Type.String({ maxLength: 80 }), {
      maxItems: 50,
      description: 'Kinds to leave out. Default: `watchProgress`.',
    }),
  ),
  collapse: Type.Optional(
    Type.Boolean({ description: 'Whether to merge consecutive equal events. Default: true.' }),
  ),
  ...selectionFields,
  ...breakdownField('Breaks the sessions down by a dimension of the anchor.'),
  limit: limit('transitions per step, paths and breakdown values'),
});

const Node = Type.Object({
  event: Type.String(),
  contentId: Nullable(Type.String({ description: 'With `byItem`, where the event names one.' })),
});
const pathCounts = {
  sessions: count('Sessions with such an event.'),
  viewers: count('Viewers of these sessions.'),
  steps: Type.Array(
    Type.Object({
      step: Type.Integer({ minimum: 1 }),
      transitions: Type.Array(Type.Object({ from: Node, to: Node, sessions: count() })),
      other: count('Sessions with a transition that is not listed.'),
      ended: count('Sessions with no further event.'),
    }),
  ),
  paths: Type.Array(Type.Object({ events: Type.Array(Node), sessions: count() })),
  otherPaths: count('Sessions with a path that is not listed.'),
};
export const PathAnswer = Type.Object({
  ...pathCounts,
  breakdown: Nullable(Type.Array(Type.Object({ value, ...pathCounts }))),
  otherValues,
});

export const CohortBody = Closed({
  ...period,
  by: Type.Optional(
    OneOf(
      cohortKinds,
      'What defines a cohort: the day of the first event, its kind, or its item; or a tag or the author ' +
        'that this item has now. Default: day.',
    ),
  ),
  first: Type.Optional(
    Closed(MatchedAny.properties, {
      description: 'Event that puts a viewer in a cohort. Default: any event.',
    }),
  ),
  returning: Type.Optional(
    Closed(MatchedAny.properties, {
      description: 'Event that counts as returning. Default: any event.',
    }),
  ),
  viewers: Type.Optional(
    OneOf(
      ['new', 'all'] as const,
      '`new`: only viewers without activity before the range. Default: new.',
    ),
  ),
  granularity: Type.Optional(OneOf(['day', 'week'] as const, 'Length of a period. Default: day.')),
  periods: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 30,
      description: 'Number of periods after the first. Default: 7.',
    }),
  ),
  ...selectionFields,
  ...breakdownField('Breaks viewers down by a dimension of the event that starts the cohort.'),
  limit: limit('cohorts (except by day) and breakdown values'),
});
const returns = {
  size: count(),
  periods: Type.Array(
    Type.Object({
      period: count('Days or weeks after the first day.'),
      viewers: count('Viewers who returned in that period.'),
      of: count('Viewers of the cohort for whom the period has begun.'),
      share: share('viewers / of'),
    }),
  ),
};
export const CohortAnswer = Type.Object({
  cohorts: Type.Array(
    Type.Object({
      cohort: Type.String({ description: 'A day, a kind, the id of an item, a tag or an author.' }),
      ...returns,
    }),
  ),
  otherCohorts: count('Cohorts that are not listed.'),
  breakdown: Nullable(
    Type.Array(Type.Object({ value, ...returns }), {
      description: 'Distinct viewers of the cohorts by breakdown value.',
    }),
  ),
  otherValues,
});

export const CustomBody = Closed({
  ...period,
  granularity: Type.Optional(
    OneOf(
      ['hour', 'day', 'week'] as const,
      'Granularity of the time series. `hour` allows at most 31 days. Default: day.',
    ),
  ),
  events: Closed(Matched.properties, { description: 'Events to report on.' }),
  ...selectionFields,
  property: Type.Optional(
    Type.String({ minLength: 1, maxLength: 100, description: 'A numeric key of `data`.' }),
  ),
  breakdown: Type.Optional(
    Type.String({ minLength: 1, maxLength: 100, description: 'A key of `data` to break down by.' }),
  ),
  limit: limit('breakdown values'),
});

const number = (description?: string) =>
  Nullable(Type.Number(description === undefined ? {} : { description }));
const measured = {
  count: count('Events.'),
  viewers: count('Distinct viewers.'),
  perViewer: number('Events per viewer.'),
  sum: number('Statistics of `property`; null if it is not given.'),
  average: number(),
  values: count('Events in which `property` is a number.'),
  minimum: number(),
  p50: number(),
  p90: number(),
  p95: number(),
  p99: number(),
  maximum: number(),
};
export const CustomAnswer = Type.Object({
  summary: Type.Object(measured),
  breakdown: Nullable(
    Type.Array(
      Type.Object({
        value: Nullable(Type.String({ description: 'Null if the event does not have it.' })),
        ...measured,
      }),
    ),
  ),
  other: Type.Object({
    values: count('Number of values that are not listed.'),
    count: count('Events with these values.'),
  }),
  timeseries: Type.Array(
    Type.Object({
      date: Type.String(),
      count: count(),
      viewers: count(),
      sum: measured.sum,
      average: measured.average,
    }),
  ),
});
