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
    Type.Integer({ minimum: 1, maximum: 50, description: `The most ${what}. Default: 10.` }),
  );
const count = (description?: string) =>
  Type.Integer({ minimum: 0, ...(description !== undefined && { description }) });
const share = (description: string) =>
  Nullable(Type.Number({ minimum: 0, maximum: 1, description }));

const value = Nullable(Type.String({ description: 'null: the event does not tell it.' }));
const otherValues = count('Values of the break-down that are not listed.');

export const FunnelBody = Closed({
  ...period,
  steps: Type.Array(Matched, { minItems: 2, maxItems: 8, description: 'In their order.' }),
  windowHours: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 720,
      description: 'All steps within this long after the first. Without it: within one session.',
    }),
  ),
  ...selectionFields,
  ...breakdownField('Splits the funnel by its first event.'),
  limit: limit('values of the break-down'),
});

const Step = Type.Object({
  event: Type.String(),
  viewers: count('Different viewers who have reached the step.'),
  sessions: Nullable(count('Sessions that have reached it; null with `windowHours`.')),
  fromPrevious: share('Of those at the step before; null for the first.'),
  fromFirst: share('Of those at the first step.'),
  dropOff: count('How many fewer than at the step before.'),
  medianSeconds: Nullable(
    Type.Number({ minimum: 0, description: 'The median time from the step before.' }),
  ),
});
export const Funnels = Type.Object({
  steps: Type.Array(Step),
  breakdown: Nullable(Type.Array(Type.Object({ value, steps: Type.Array(Step) }))),
  otherValues,
});

export const PathBody = Closed({
  ...period,
  anchor: Closed(Matched.properties, { description: 'Where paths begin or end.' }),
  direction: Type.Optional(
    OneOf(['after', 'before'] as const, 'What comes next, or what came before. Default: after.'),
  ),
  steps: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 6, description: 'How many events far. Default: 3.' }),
  ),
  byItem: Type.Optional(Type.Boolean({ description: 'Tells items apart. Default: false.' })),
  exclude: Type.Optional(
    Type.Array(Type.String({ maxLength: 80 }), {
      maxItems: 50,
      description: 'Kinds that are left out. Default: `watchProgress`.',
    }),
  ),
  collapse: Type.Optional(
    Type.Boolean({ description: 'Takes equal events in a row as one. Default: true.' }),
  ),
  ...selectionFields,
  ...breakdownField('Splits the sessions by the anchor.'),
  limit: limit('transitions of a step, paths, and values of the break-down'),
});

const Node = Type.Object({
  event: Type.String(),
  contentId: Nullable(Type.String({ description: 'With `byItem`, where the event names one.' })),
});
const pathCounts = {
  sessions: count('Sessions with such an event.'),
  viewers: count('Their viewers.'),
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
      'What makes a cohort: the day of the first event, its kind, or its item; or a tag or the author ' +
        'that this item has now. Default: day.',
    ),
  ),
  first: Type.Optional(
    Closed(MatchedAny.properties, { description: 'What begins a cohort. Default: any event.' }),
  ),
  returning: Type.Optional(
    Closed(MatchedAny.properties, { description: 'What counts later. Default: any event.' }),
  ),
  viewers: Type.Optional(
    OneOf(
      ['new', 'all'] as const,
      '`new`: only viewers who did nothing before the range. Default: new.',
    ),
  ),
  granularity: Type.Optional(OneOf(['day', 'week'] as const, 'Of the periods. Default: day.')),
  periods: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 30, description: 'How many after the first. Default: 7.' }),
  ),
  ...selectionFields,
  ...breakdownField('Splits the viewers by the event that begins the cohort.'),
  limit: limit('cohorts, except by day, and values of the break-down'),
});
const returns = {
  size: count(),
  periods: Type.Array(
    Type.Object({
      period: count('Days or weeks after the first day.'),
      viewers: count('Those who did it then.'),
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
      description: 'By value, the viewers who began, each of them once.',
    }),
  ),
  otherValues,
});

export const CustomBody = Closed({
  ...period,
  granularity: Type.Optional(
    OneOf(
      ['hour', 'day', 'week'] as const,
      'Of the timeseries. `hour`: at most 31 days. Default: day.',
    ),
  ),
  events: Closed(Matched.properties, { description: 'Which events.' }),
  ...selectionFields,
  property: Type.Optional(
    Type.String({ minLength: 1, maxLength: 100, description: 'A key of `data` with numbers.' }),
  ),
  breakdown: Type.Optional(
    Type.String({ minLength: 1, maxLength: 100, description: 'A key of `data` to split by.' }),
  ),
  limit: limit('values of the break-down'),
});

const number = (description?: string) =>
  Nullable(Type.Number(description === undefined ? {} : { description }));
const measured = {
  count: count('Events.'),
  viewers: count('Different viewers.'),
  perViewer: number('Events a viewer.'),
  sum: number('Of `property`; null without one.'),
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
        value: Nullable(Type.String({ description: 'null: the event does not have it.' })),
        ...measured,
      }),
    ),
  ),
  other: Type.Object({
    values: count('Values that are not listed.'),
    count: count('Their events.'),
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
