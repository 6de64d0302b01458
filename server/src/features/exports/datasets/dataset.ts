/** What can be exported: datasets, their columns and how their rows are read. */
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import { dayMs } from '../../../platform/time.ts';
import { clockOf, type ZoneClock } from '../../../platform/zone-clock.ts';
import type { ReportFilter } from '../../analytics/analytics.ts';
import type { EngagementLog } from '../../events/events.ts';

export type ColumnType = 'string' | 'integer' | 'number' | 'boolean' | 'timestamp' | 'json';

export type Column = {
  readonly name: string;
  readonly type: ColumnType;
  /** For the schema that the API and the guide show. */
  readonly about: string;
};

/** Values in the order of the columns; null or undefined where there is none. Timestamps are ms. */
export type Row = readonly unknown[];

/** Where a reader continues: plain JSON that only its dataset can interpret. */
export type ReadPosition = Readonly<Record<string, unknown>>;

export type Batch = {
  readonly rows: readonly Row[];
  /** The position after these rows; null where nobody can continue. */
  readonly next: ReadPosition | null;
  /** How much of the range has been read, from 0 to 1. */
  readonly share: number;
};

/** The days of an export on the wall clock of its time zone, as ms that read like UTC. */
export type ExportRange = {
  readonly organizationId: OrganizationId;
  readonly startMs: number;
  /** The end of the last day. */
  readonly endMs: number;
  readonly clock: ZoneClock;
  readonly filter: ReportFilter;
};

export type DatasetParts = { readonly db: Db; readonly eventLog: EngagementLog };

export type DatasetReader = {
  readonly about: string;
  readonly columns: readonly Column[];
  readonly filters: readonly (keyof ReportFilter)[];
  /** Whether its rows hold ids or actions of viewers, so that the erasure of one withdraws its files. */
  readonly namesViewers: boolean;
  /**
   * Reads rows in batches of some thousand, so that memory stays flat whatever the range. With the
   * position of an earlier batch it continues after that batch and gives the same rows.
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

/** The moments at which the range begins and ends. */
export function momentsOf({ startMs, endMs, clock }: ExportRange): { from: Date; before: Date } {
  return { from: new Date(clock.momentOf(startMs)), before: new Date(clock.momentOf(endMs)) };
}

/** Puts the values of an object into the order of the columns. */
export function rowOf(columns: readonly Column[], values: Readonly<Record<string, unknown>>): Row {
  return columns.map(({ name }) => values[name]);
}
