/**
 * The definition of a metric, and what an event contributes to it.
 *
 *   count   events of each participant
 *   sum     a field of `data`, added up for each participant
 *   share   participants with such an event
 *   mean    a field of `data`, over all events: Σ field / events
 *   ratio   Σ numerator / Σ denominator, each a count or the sum of a field
 *
 * Counts and amounts are integers in millionths, so sums are exact and independent of the order of
 * events and of rebuilds.
 */
import type { LoggedEvent } from '../events/events.ts';

export const metricTypes = ['count', 'sum', 'mean', 'share', 'ratio'] as const;
export type MetricType = (typeof metricTypes)[number];
export const directions = ['increase', 'decrease'] as const;
export type Direction = (typeof directions)[number];
export const operators = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'exists'] as const;
export type Operator = (typeof operators)[number];

type Scalar = string | number | boolean;
export type Condition = {
  /** A key of `data`. */
  readonly field: string;
  readonly operator: Operator;
  readonly value: Scalar | readonly Scalar[];
};

/** The events that count, and whether each counts as one or by a field. */
export type Counted = {
  readonly event: string;
  readonly where: readonly Condition[];
  /** The key of `data` to add up; null counts each event as one. */
  readonly field: string | null;
};

export type MetricDefinition = {
  readonly type: MetricType;
  readonly counted: Counted;
  /** Only for ratios. */
  readonly denominator: Counted | null;
  /** Time after the exposure; null means until the experiment ends. */
  readonly windowHours: number | null;
  /** Cap on a participant's sum; for a mean, cap on a single event. */
  readonly cap: number | null;
  readonly direction: Direction;
};

export const unit = 1_000_000;
/** Larger amounts are not treated as measurements, and their sums might not be exact. */
const maxAmount = 1e9;

/** An event's addition to numerator and denominator in millionths, or null if it is not counted. */
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
  // Avoid −0, which PostgreSQL stores as 0 but test comparisons distinguish.
  return Math.round(amount * unit) + 0;
}

function valueOf(data: LoggedEvent['data'], field: string): unknown {
  return Object.hasOwn(data, field) ? data[field] : undefined;
}

/** An event without the field fails every condition except `exists: false`. */
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

export function kindsOf({ counted, denominator }: MetricDefinition): string[] {
  return [...new Set([counted.event, ...(denominator === null ? [] : [denominator.event])])];
}

/** The keys of `data` that a metric reads, by kind of event. */
export function propertiesRead(definition: MetricDefinition): { event: string; field: string }[] {
  const { counted, denominator } = definition;
  return [counted, ...(denominator === null ? [] : [denominator])].flatMap(
    ({ event, where, field }) =>
      [...where.map((condition) => condition.field), ...(field === null ? [] : [field])].map(
        (name) => ({ event, field: name }),
      ),
  );
}
