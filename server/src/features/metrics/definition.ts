/**
 * What a metric is, and what an event counts for in it.
 *
 *   count   events of each participant
 *   sum     a field of `data`, added up for each participant
 *   share   participants with such an event
 *   mean    a field of `data`, over all events: Σ field / events
 *   ratio   Σ numerator / Σ denominator, each a count or the sum of a field
 *
 * Counts and amounts are in millionths, as whole numbers: sums of them are exact, so neither the order of
 * events nor a rebuild shows.
 */
import type { LoggedEvent } from '../events/events.ts';

export const metricTypes = ['count', 'sum', 'mean', 'share', 'ratio'] as const;
export type MetricType = (typeof metricTypes)[number];
export const directions = ['increase', 'decrease'] as const;
export type Direction = (typeof directions)[number];
export const operators = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'exists'] as const;
export type Operator = (typeof operators)[number];

export type Scalar = string | number | boolean;
export type Condition = {
  /** A key of `data`. */
  readonly field: string;
  readonly operator: Operator;
  readonly value: Scalar | readonly Scalar[];
};

/** Which events count, and whether they count as one each or by a field. */
export type Counted = {
  readonly event: string;
  readonly where: readonly Condition[];
  /** The key of `data` that is added up; null: each event counts as one. */
  readonly field: string | null;
};

export type MetricDefinition = {
  readonly type: MetricType;
  readonly counted: Counted;
  /** Of ratios alone. */
  readonly denominator: Counted | null;
  /** From the exposure on; null: until the experiment ends. */
  readonly windowHours: number | null;
  /** The most that a participant's sum counts for; in a mean, the most that one event counts for. */
  readonly cap: number | null;
  /** The direction that is better. */
  readonly direction: Direction;
};

export const unit = 1_000_000;
/** Amounts beyond this are no measurements, and sums of them could no longer be exact. */
const maxAmount = 1e9;

/** What an event adds above and below the line, in millionths; null where it is not counted. */
export function countEvent(
  { type, counted, denominator, cap }: MetricDefinition,
  event: LoggedEvent,
): { readonly numerator: number; readonly denominator: number } | null {
  const found = amountOf(counted, event);
  if (type === 'ratio') {
    const below = denominator === null ? null : amountOf(denominator, event);
    if (found === null && below === null) return null;
    return { numerator: found ?? 0, denominator: below ?? 0 };
  }
  if (found === null) return null;
  const capped = type === 'mean' && cap !== null ? Math.min(found, Math.round(cap * unit)) : found;
  return { numerator: capped, denominator: unit };
}

function amountOf({ event: kind, where, field }: Counted, { event, data }: LoggedEvent) {
  if (event !== kind || !where.every((condition) => holds(condition, data))) return null;
  if (field === null) return unit;
  const amount = valueOf(data, field);
  if (typeof amount !== 'number' || !(Math.abs(amount) <= maxAmount)) return null;
  // Never −0, which PostgreSQL would store as 0 but a comparison in tests would not.
  return Math.round(amount * unit) + 0;
}

function valueOf(data: LoggedEvent['data'], field: string): unknown {
  return Object.hasOwn(data, field) ? data[field] : undefined;
}

/** An event without the field fulfils no condition, except that it has none. */
function holds({ field, operator, value }: Condition, data: LoggedEvent['data']): boolean {
  return fulfils({ operator, value }, valueOf(data, field));
}

/** Whether a value of `data` fulfils a condition. */
export function fulfils(
  { operator, value }: Pick<Condition, 'operator' | 'value'>,
  found: unknown,
): boolean {
  if (operator === 'exists') return (found !== undefined && found !== null) === value;
  if (found === undefined || found === null) return false;
  switch (operator) {
    case 'eq':
      return found === value;
    case 'ne':
      return found !== value;
    case 'in':
      return Array.isArray(value) && value.some((one) => one === found);
    case 'gt':
      return compare(found, value, (a, b) => a > b);
    case 'gte':
      return compare(found, value, (a, b) => a >= b);
    case 'lt':
      return compare(found, value, (a, b) => a < b);
    case 'lte':
      return compare(found, value, (a, b) => a <= b);
    default:
      return operator satisfies never;
  }
}

function compare(
  found: unknown,
  value: unknown,
  isFulfilled: (found: number, value: number) => boolean,
): boolean {
  return typeof found === 'number' && typeof value === 'number' && isFulfilled(found, value);
}

/** The kinds of events that a metric counts. */
export function kindsOf({ counted, denominator }: MetricDefinition): string[] {
  return [...new Set([counted.event, ...(denominator === null ? [] : [denominator.event])])];
}

/** The keys of `data` that a metric reads, by kind of event. */
export function propertiesOf(definition: MetricDefinition): { event: string; field: string }[] {
  const { counted, denominator } = definition;
  return [counted, ...(denominator === null ? [] : [denominator])].flatMap(
    ({ event, where, field }) =>
      [...where.map((condition) => condition.field), ...(field === null ? [] : [field])].map(
        (name) => ({ event, field: name }),
      ),
  );
}
