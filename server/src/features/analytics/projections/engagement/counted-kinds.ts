/**
 * The kinds of events that have a counter column each. All generic handling of these columns is
 * derived from this table: the states of views, the counters, the facts, the metrics of reports and
 * their exports. A new kind also needs its column in `content_counter` and `audience_counter`, and
 * a version of the facts (`facts/codec.ts`).
 */
import type { EventKind } from '../../../events/events.ts';

type CountedKind = {
  readonly kind: EventKind;
  /** Describes the metric that reports show under the name of the column, for exports. */
  readonly metric?: string;
};

const table = {
  impressions: { kind: 'impression' },
  plays: { kind: 'playStart' },
  completions: { kind: 'completion' },
  likes: { kind: 'like', metric: 'Likes on that day.' },
  shares: { kind: 'share', metric: 'Shares on that day.' },
  saves: { kind: 'save', metric: 'Saves on that day.' },
  swipes_away: { kind: 'swipe' },
  unlikes: { kind: 'unlike' },
} as const satisfies Readonly<Record<string, CountedKind>>;

export type CountedColumn = keyof typeof table;
export const countedColumns = Object.keys(table) as readonly CountedColumn[];

/** The position of each column in the counts of a view and in a row of counters. */
export const countedIndex = Object.fromEntries(
  countedColumns.map((column, index) => [column, index]),
) as Readonly<Record<CountedColumn, number>>;

/** The columns that are metrics of the same name. The formulas of reports use the others. */
export type CountMetric = {
  [Column in CountedColumn]: (typeof table)[Column] extends { metric: string } ? Column : never;
}[CountedColumn];

const tableOfKinds: Readonly<Record<CountedColumn, CountedKind>> = table;

export const countMetrics = countedColumns.filter(
  (column): column is CountMetric => tableOfKinds[column].metric !== undefined,
);

/** Creates a value for each of these metrics, in the order of the table. */
export function byCountMetric<Value>(
  valueOf: (metric: CountMetric, description: string) => Value,
): Record<CountMetric, Value> {
  return Object.fromEntries(
    countMetrics.map((name) => [name, valueOf(name, table[name].metric)]),
  ) as Record<CountMetric, Value>;
}

const columnsByKind: ReadonlyMap<string, CountedColumn> = new Map(
  countedColumns.map((column) => [table[column].kind, column]),
);

/** The column that counts a kind of event, or null for kinds counted only through views. */
export function countedColumnOf(kind: string): CountedColumn | null {
  return columnsByKind.get(kind) ?? null;
}
