/** Journey queries: their form in the address and their requests. */
import type { Answer } from '../../data.ts';
import type { api } from '../../api.ts';
import { scalarOf } from '../../condition-rules.ts';
import type { ReportQuery } from './report-filters.tsx';

export type FunnelBody = Parameters<typeof api.post<'/v1/analytics/funnels'>>[1]['body'];
export type PathBody = Parameters<typeof api.post<'/v1/analytics/paths'>>[1]['body'];
export type CohortBody = NonNullable<
  NonNullable<Parameters<typeof api.post<'/v1/analytics/cohorts'>>[1]>['body']
>;
export type SeriesBody = Parameters<typeof api.post<'/v1/analytics/custom'>>[1]['body'];
type Matched = FunnelBody['steps'][number];
type Where = NonNullable<Matched['where']>[number];

export const operators = {
  eq: '=',
  ne: '≠',
  gt: '>',
  gte: '≥',
  lt: '<',
  lte: '≤',
  in: '∈',
  exists: '∃',
} as const satisfies Record<Where['operator'], string>;
export type Operator = Where['operator'];

/** `field` is one of `itemFields`, or a key of `data` as `data.…`. Values are as typed. */
export type Condition = { field: string; operator: Operator; value: string };
/** An empty kind means any, if the query allows it. */
export type Chosen = { event: string; conditions: readonly Condition[] };

export const itemFields = ['tag', 'author', 'section', 'contentId'] as const;
export const isOfItem = (field: string): boolean => itemFields.some((each) => each === field);

export const questions = ['funnel', 'paths', 'cohorts', 'series'] as const;
export type QuestionName = (typeof questions)[number];

const plain = (...kinds: string[]): Chosen[] => kinds.map((event) => ({ event, conditions: [] }));
const usual: Readonly<Record<QuestionName, readonly Chosen[]>> = {
  funnel: plain('impression', 'playStart', 'like'),
  paths: plain('playStart'),
  cohorts: plain('', ''),
  series: plain('like'),
};

const isCondition = (value: unknown): value is [string, Operator, string] =>
  Array.isArray(value) &&
  value.length === 3 &&
  value.every((part) => typeof part === 'string') &&
  String(value[1]) in operators;

/**
 * Parses the events in an address, `[[kind, [[field, operator, value], …]], …]`, or returns the
 * defaults.
 */
export function readEvents(text: string | undefined, question: QuestionName): readonly Chosen[] {
  try {
    const found = JSON.parse(text ?? '[]') as unknown;
    const events = (Array.isArray(found) ? (found as unknown[]) : []).flatMap((one) => {
      const [event, conditions] = Array.isArray(one) ? (one as unknown[]) : [];
      if (typeof event !== 'string' || !Array.isArray(conditions)) return [];
      return [
        {
          event,
          conditions: conditions
            .filter(isCondition)
            .map(([field, operator, value]) => ({ field, operator, value })),
        },
      ];
    });
    return events.length >= usual[question].length || (question === 'funnel' && events.length === 2)
      ? events
      : usual[question];
  } catch {
    return usual[question];
  }
}

export const writeEvents = (events: readonly Chosen[]): string =>
  JSON.stringify(
    events.map(({ event, conditions }) => [
      event,
      conditions.map(({ field, operator, value }) => [field, operator, value]),
    ]),
  );

/** Returns null while it is incomplete. */
function whereOf({ field, operator, value }: Condition): Where | null {
  const key = field.replace(/^data\./, '');
  if (operator === 'exists') return { field: key, operator, value: value !== 'false' };
  if (value.trim() === '') return null;
  if (operator === 'in') {
    const values = value.split(',').filter((part) => part.trim() !== '');
    return values.length === 0 ? null : { field: key, operator, value: values.map(scalarOf) };
  }
  const found = scalarOf(value);
  const isOfNumbers = operator !== 'eq' && operator !== 'ne';
  return isOfNumbers && typeof found !== 'number' ? null : { field: key, operator, value: found };
}

/** The events in the format of requests, or null while something is missing. */
function matchedOf({ event, conditions }: Chosen): Matched | null {
  const ofItem = conditions.filter(({ field }) => isOfItem(field));
  const where = conditions.filter(({ field }) => !isOfItem(field)).map(whereOf);
  const isWhole = !where.includes(null) && ofItem.every(({ value }) => value.trim() !== '');
  if (!isWhole) return null;
  return {
    event,
    ...Object.fromEntries(ofItem.map(({ field, value }) => [field, value.trim()])),
    ...(where.length > 0 && { where: where.filter((one) => one !== null) }),
  };
}

type Values = Readonly<Record<string, string>>;

export const dimensions = [
  ...(['device', 'country', 'appVersion', 'author', 'section', 'contentType'] as const),
  ...(['language', 'experimentVariant'] as const),
];

/** Range, filters and breakdown. A breakdown by variants requires an experiment. */
function sharedOf(values: Values, query: ReportQuery) {
  const { startDate, endDate, device, country, appVersion } = query;
  const { experiment, variant } = values;
  const chosen = dimensions.find((each) => each === values['breakdown']);
  const isByVariant = chosen === 'experimentVariant';
  const breakdown = isByVariant && experiment === undefined ? undefined : chosen;
  const needsExperiment = isByVariant || variant !== undefined;
  return {
    startDate,
    endDate,
    ...(device !== undefined && { device }),
    ...(country !== undefined && { country }),
    ...(appVersion !== undefined && { appVersion }),
    ...(needsExperiment && experiment !== undefined && { experiment }),
    ...(experiment !== undefined && variant !== undefined && { variant }),
    ...(breakdown !== undefined && { breakdown }),
  };
}

const wholeOf = (text: string | undefined, usualNumber: number, most: number): number => {
  const value = Number(text ?? usualNumber);
  return Number.isInteger(value) && value >= 1 && value <= most ? value : usualNumber;
};

export function funnelOf(values: Values, query: ReportQuery): FunnelBody | null {
  const shared = sharedOf(values, query);
  const steps = readEvents(values['events'], 'funnel').map(matchedOf);
  const isWhole = steps.every((step) => step !== null && step.event !== '');
  if (!isWhole) return null;
  return {
    ...shared,
    steps: steps.filter((step) => step !== null),
    ...(values['windowHours'] !== undefined && {
      windowHours: wholeOf(values['windowHours'], 24, 720),
    }),
  };
}

export function pathsOf(values: Values, query: ReportQuery): PathBody | null {
  const shared = sharedOf(values, query);
  const anchor = matchedOf(
    readEvents(values['events'], 'paths')[0] ?? { event: '', conditions: [] },
  );
  if (anchor === null || anchor.event === '') return null;
  return {
    ...shared,
    anchor,
    direction: values['direction'] === 'before' ? 'before' : 'after',
    steps: wholeOf(values['far'], 3, 6),
    byItem: values['byItem'] === 'true',
  };
}

export const cohortKinds = ['day', 'event', 'item', 'tag', 'author'] as const;

export function cohortsOf(values: Values, query: ReportQuery): CohortBody | null {
  const shared = sharedOf(values, query);
  const [first = null, returning = null] = readEvents(values['events'], 'cohorts').map(matchedOf);
  if (first === null || returning === null) return null;
  return {
    ...shared,
    by: cohortKinds.find((each) => each === values['by']) ?? 'day',
    first: orAny(first),
    returning: orAny(returning),
    viewers: values['viewers'] === 'all' ? 'all' : 'new',
    granularity: values['granularity'] === 'week' ? 'week' : 'day',
    periods: wholeOf(values['periods'], 7, 30),
  };
}

/** Without a kind, any event matches. */
function orAny({ event, ...conditions }: Matched): NonNullable<CohortBody['first']> {
  return event === '' ? conditions : { event, ...conditions };
}

export function seriesOf(values: Values, query: ReportQuery): SeriesBody | null {
  // Here, a breakdown is by a key of `data`.
  const { breakdown, property, ...rest } = values;
  const shared = sharedOf(rest, query);
  const events = matchedOf(
    readEvents(values['events'], 'series')[0] ?? { event: '', conditions: [] },
  );
  if (events === null || events.event === '') return null;
  return {
    ...shared,
    events,
    granularity: query.granularity ?? 'day',
    ...(property !== undefined && { property }),
    ...(breakdown !== undefined && { breakdown }),
  };
}

export type Funnel = Answer<'post', '/v1/analytics/funnels'>['data'];
export type Paths = Answer<'post', '/v1/analytics/paths'>['data'];
export type Cohorts = Answer<'post', '/v1/analytics/cohorts'>['data'];
export type CustomSeries = Answer<'post', '/v1/analytics/custom'>['data'];
