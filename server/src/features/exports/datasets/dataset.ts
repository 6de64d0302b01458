/** The exportable datasets: their columns and how their rows are read. */
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import { dayMs } from '../../../platform/values/time.ts';
import { clockOf, type ZoneClock } from '../../../platform/values/zone-clock.ts';
import type { ReportFilter } from '../../analytics/analytics.ts';
import type { EngagementLog } from '../../events/events.ts';

export type ColumnType = 'string' | 'integer' | 'number' | 'boolean' | 'timestamp' | 'json';

export type Column = {
  readonly name: string;
  readonly type: ColumnType;
  /** For the schema in the API and the guide. */
  readonly about: string;
};

/**
 * Values in the order of the columns; null or undefined if missing. Timestamps are in milliseconds.
 */
export type Row = readonly unknown[];

/** The position at which a reader continues: plain JSON that only its dataset can interpret. */
export type ReadPosition = Readonly<Record<string, unknown>>;

export type Batch = {
  readonly rows: readonly Row[];
  /** The position after these rows, or null if reading cannot be resumed here. */
  readonly next: ReadPosition | null;
  /** The fraction of the range read so far, from 0 to 1. */
  readonly share: number;
};

/** The days of an export in the wall clock time of its zone, as milliseconds that read like UTC. */
export type ExportRange = {
  readonly organizationId: OrganizationId;
  readonly startMs: number;
  /** End of the last day. */
  readonly endMs: number;
  readonly clock: ZoneClock;
  readonly filter: ReportFilter;
};

export type DatasetParts = { readonly db: Db; readonly eventLog: EngagementLog };

export type DatasetReader = {
  readonly about: string;
  readonly columns: readonly Column[];
  readonly filters: readonly (keyof ReportFilter)[];
  /**
   * Whether its rows contain ids or actions of viewers, so that erasing a viewer withdraws its
   * files.
   */
  readonly namesViewers: boolean;
  /**
   * Reads rows in batches of a few thousand, so that memory use does not depend on the range. Given
   * the position of an earlier batch, it continues after that batch with the same rows.
   */
  read(
    parts: DatasetParts,
    range: ExportRange,
    from: ReadPosition | null,
    signal: AbortSignal,
  ): AsyncGenerator<Batch>;
};

export function toRange(
  organizationId: OrganizationId,
  days: { startDay: string; endDay: string; timeZone: string; filter: ReportFilter },
): ExportRange {
  return {
    organizationId,
    startMs: Date.parse(days.startDay),
    endMs: Date.parse(days.endDay) + dayMs,
    clock: clockOf(days.timeZone),
    filter: days.filter,
  };
}

export function momentsOf({ startMs, endMs, clock }: ExportRange): { from: Date; before: Date } {
  return { from: new Date(clock.momentOf(startMs)), before: new Date(clock.momentOf(endMs)) };
}

/** Arranges the values of an object in the order of the columns. */
export function rowOf(columns: readonly Column[], values: Readonly<Record<string, unknown>>): Row {
  return columns.map(({ name }) => values[name]);
}
