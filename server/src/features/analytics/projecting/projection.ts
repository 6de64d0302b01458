/**
 * A projection turns the event log into tables. All of them work alike:
 *
 *   collect(blocks) … collect(blocks) → write(tx) → (committed) → collect(blocks) …
 *                                                 → (failed)    → forget, read again from the log
 *
 * 1. `collect` touches memory alone, and gathers in a way in which order does not matter.
 * 2. `write` runs in the transaction that also moves the projection's position, under a lock that
 *    lets one process of the cluster write. What was written therefore is exactly what the log holds
 *    before the position, whatever is killed when.
 * 3. What a writer remembers of the tables holds as long as it alone writes and all its transactions
 *    commit. Otherwise the runner calls `forget`.
 */
import type { Tx } from '../../../platform/database/database.ts';
import type { Tables } from '../../../platform/database/tables.ts';
import type { EventBlock } from '../../events/events.ts';

export const projectionNames = ['engagement', 'quality', 'retention', 'viewers', 'live'] as const;
export type ProjectionName = (typeof projectionNames)[number];

export type ProjectionWriter = {
  collect(blocks: readonly EventBlock[]): void;
  /** Writes what was collected, and starts to collect anew. */
  write(tx: Tx): Promise<void>;
  /** Forgets what was collected and what it remembers of the tables. */
  forget(): void;
};

export type Projection = {
  readonly name: ProjectionName;
  /** The tables that it alone writes, and that a rebuild makes anew. */
  readonly tables: readonly (keyof Tables)[];
  readonly createWriter: () => ProjectionWriter;
  /**
   * Its share of the time, at most: a projection that is expensive and need not be fresh to the
   * second collects for longer under load, and so writes each row less often. 1 where it must be.
   */
  readonly mostDuty: number;
};
