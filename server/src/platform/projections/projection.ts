/**
 * A projection turns the event log into tables. It is a unit: everything that is ever done to these
 * tables, whoever asks for it, is declared here, and nothing elsewhere lists projections by
 * name. All of them work the same way:
 *
 *   collect(blocks) … collect(blocks) → write(tx) → (committed) → collect(blocks) …
 *                                                 → (failed)    → forget, read again from the log
 *
 * 1. `collect` touches memory alone, and gathers in a way in which order does not matter.
 * 2. `write` runs in the transaction that also moves the position of the partitions that it is for (see
 *    partitions.ts), under a lock that lets one process of the cluster write for them. What was written
 *    therefore is exactly what the log holds of them before the position, whatever is killed when.
 * 3. What a writer remembers of the tables holds as long as it alone writes and all its transactions
 *    commit. Otherwise the runner calls `forget`.
 * 4. What is written is a function of the set of events: order, repeats and the cut of the log into
 *    passes never show, so a rebuild gives equal tables.
 */
import type { Db, Tx } from '../database/database.ts';
import type { LogBlock } from '../event-log/event-log.ts';

export type ProjectionPass = {
  /** The partitions that the pass is written for, ascending. */
  readonly partitions: readonly number[];
  /**
   * When the newest block of the pass was received, in milliseconds of the Unix epoch, whatever partition
   * it is of; 0 for none.
   */
  readonly receivedAt: number;
};

export type ProjectionWriter<Event> = {
  collect(blocks: readonly LogBlock<Event>[]): void;
  /** Writes what was collected, and starts collecting again. */
  write(tx: Tx, pass: ProjectionPass): Promise<void>;
  /** Forgets what was collected and what it remembers of the tables. */
  forget(): void;
};

export type Viewer = { readonly organizationId: string; readonly userId: string };
export type Item = { readonly organizationId: string; readonly contentId: string };

/** Removes rows whose time is over. @returns how many, at most `limit` */
export type Expiry = (tx: Tx, limit: number) => Promise<number>;

/** How a projection is rebuilt from the log. */
export type RebuildPlan =
  | {
      readonly from: 'log';
      /**
       * Puts what the log has lost into the copies, before the log is read. Everything before
       * `firstDayMs` has to be taken over; −∞ means nothing.
       */
      readonly carryOver?: (rebuild: {
        readonly db: Db;
        readonly schema: string;
        readonly firstDayMs: number;
        readonly signal: AbortSignal;
      }) => Promise<void>;
      /** The same when the log has been read, in the transaction that swaps the tables. */
      readonly keepOld?: (tx: Tx, schema: string, firstDayMs: number) => Promise<void>;
      /**
       * Brings rows of the copies, at most `limit`, into the form that rows at rest have in the tables.
       * @returns how many
       */
      readonly settle?: (tx: Tx, limit: number) => Promise<number>;
    }
  /** Nothing old matters: it is emptied, and continues from the end of the log. */
  | { readonly from: 'now'; readonly clear: (tx: Tx) => Promise<void> };

export type Projection<Event> = {
  readonly name: string;
  /** The tables that it alone writes, and that a rebuild makes again. */
  readonly tables: readonly string[];
  readonly createWriter: () => ProjectionWriter<Event>;
  /**
   * Divides the events of one organization among partitions; without it they are all in one. See rule 1
   * in partitions.ts.
   */
  partitionKey?(event: Event): string;
  /**
   * Its maximum share of the time: a projection that is expensive and need not be fresh to the second
   * collects for longer under load, and so writes each row less often. 1 where it must be fresh.
   */
  readonly maxDuty: number;
  /**
   * Removes all rows about one viewer, and takes the viewer out of what stays. Idempotent.
   * `'no viewer data'` where no table knows viewers. @returns how many rows were removed
   */
  readonly eraseViewer: ((tx: Tx, viewer: Viewer) => Promise<number>) | 'no viewer data';
  /** Removes all rows about items that were deleted for good; `'no items'` where none knows items. */
  readonly purgeItems: ((tx: Tx, items: readonly Item[]) => Promise<void>) | 'no items';
  readonly expire: readonly Expiry[];
  readonly rebuild: RebuildPlan;
};

/** Whether events of one organization are in several partitions. */
export function isDivided<Event>(projection: Projection<Event>): boolean {
  return 'partitionKey' in projection;
}
