/**
 * A projection turns the event log into tables. Everything that is done to these tables is declared
 * here, and no other code lists projections by name. All projections work the same way:
 *
 *   collect(blocks) … collect(blocks) → write(tx) → (committed) → collect(blocks) …
 *                                                 → (failed)    → forget, read again from the log
 *
 * 1. `collect` only changes memory, and its result does not depend on order.
 * 2. `write` runs in the transaction that also moves the position of its partitions (see
 *    partitions.ts), under a lock that lets one process of the cluster write for them. The
 *    tables therefore contain exactly the events of these partitions before the position, no matter
 *    which process is killed when.
 * 3. A writer's cached table contents are valid as long as it is the only writer and all its
 *    transactions commit. Otherwise the runner calls `forget`.
 * 4. The rows are a function of the set of events: order, repeats and the division of the log into
 *    passes do not matter, so a rebuild gives equal tables.
 */
import type { Db, Tx } from '../database/database.ts';
import type { LogBlock } from '../event-log/event-log.ts';

export type ProjectionPass = {
  /** The partitions that the pass is written for, ascending. */
  readonly partitions: readonly number[];
  /**
   * When the newest block of the pass was received, in milliseconds since the Unix epoch,
   * regardless of its partition; 0 if there is none.
   */
  readonly receivedAt: number;
};

export type ProjectionWriter<Event> = {
  collect(blocks: readonly LogBlock<Event>[]): void;
  /** Writes what was collected, and starts collecting again. */
  write(tx: Tx, pass: ProjectionPass): Promise<void>;
  /** Discards collected events and cached table contents. */
  forget(): void;
};

export type Viewer = { readonly organizationId: string; readonly userId: string };
export type ProjectedItem = { readonly organizationId: string; readonly contentId: string };

/**
 * Removes expired rows.
 *
 * @returns how many, at most `limit`
 */
export type Expiry = (tx: Tx, limit: number) => Promise<number>;

/** Methods for rebuilding a projection from the log. */
export type RebuildPlan =
  | {
      readonly from: 'log';
      /**
       * Fills the copies with data that the log has lost, before the log is read. Everything before
       * `firstDayMs` must be carried over; −∞ means nothing.
       */
      readonly carryOver?: (rebuild: {
        readonly db: Db;
        readonly schema: string;
        readonly firstDayMs: number;
        readonly signal: AbortSignal;
      }) => Promise<void>;
      /** The same after the log has been read, in the transaction that swaps the tables. */
      readonly keepOld?: (tx: Tx, schema: string, firstDayMs: number) => Promise<void>;
      /**
       * Converts at most `limit` rows of the copies to their final form.
       *
       * @returns how many
       */
      readonly settle?: (tx: Tx, limit: number) => Promise<number>;
    }
  /**
   * Old data does not matter: the tables are emptied, and the projection continues from the end of
   * the log.
   */
  | { readonly from: 'now'; readonly clear: (tx: Tx) => Promise<void> };

export type Projection<Event> = {
  readonly name: string;
  /** The tables that only this projection writes, and that a rebuild recreates. */
  readonly tables: readonly string[];
  readonly createWriter: () => ProjectionWriter<Event>;
  /**
   * Divides the events of one organization among partitions. Without it, they are all in one. See
   * rule 1 in partitions.ts.
   */
  partitionKey?(event: Event): string;
  /**
   * Maximum share of time spent writing. A projection that is expensive and may lag by seconds
   * collects for longer under load, so it writes each row less often. 1 if it must be fresh.
   */
  readonly maxDuty: number;
  /**
   * Removes all rows about one viewer, and removes the viewer from other rows. Idempotent. `'no
   * viewer data'` if no table refers to viewers. @returns the number of removed rows
   */
  readonly eraseViewer: ((tx: Tx, viewer: Viewer) => Promise<number>) | 'no viewer data';
  /** Removes all rows about permanently deleted items; `'no items'` if no table refers to items. */
  readonly purgeItems: ((tx: Tx, items: readonly ProjectedItem[]) => Promise<void>) | 'no items';
  readonly expire: readonly Expiry[];
  readonly rebuild: RebuildPlan;
};

/** Whether events of one organization are in several partitions. */
export function isDivided<Event>(projection: Projection<Event>): boolean {
  return 'partitionKey' in projection;
}
