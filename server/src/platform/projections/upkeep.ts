/** Erasure, purges and expiry in the tables of all projections. */
import { inTransaction, type Db } from '../database/database.ts';
import { inBatches } from '../database/batches.ts';
import type { Item, Projection, Viewer } from './projection.ts';
import { interruptProjections, lockProjections } from './queries.ts';

const rowsAtOnce = 2_000;
const itemsAtOnce = 100;

/**
 * Removes what projections keep of one viewer. Call it after the viewer's events are gone from the
 * log, so that no later pass reads them. Idempotent.
 *
 * @returns how many rows were removed
 */
export async function eraseFromProjections<Event>(
  db: Db,
  projections: readonly Projection<Event>[],
  viewer: Viewer,
): Promise<number> {
  const concerned = projections.flatMap(({ name, eraseViewer: erase }) =>
    erase === 'no viewer data' ? [] : [{ name, erase }],
  );
  return inTransaction(db, async (tx) => {
    // Whoever writes now has read the states, and must not write them back.
    await interruptProjections(tx, namesOf(concerned));
    let removed = 0;
    for (const { erase } of concerned) removed += await erase(tx, viewer);
    return removed;
  });
}

/**
 * Removes what projections keep of items that were deleted for good. It waits for the pass that is
 * being written, and makes writers forget what they have read: later passes read the log without the
 * items, see that they are gone, and write nothing for them. Some items go in each transaction, so that
 * projections never wait for long.
 */
export async function purgeFromProjections<Event>(
  db: Db,
  projections: readonly Projection<Event>[],
  items: readonly Item[],
): Promise<void> {
  const concerned = projections.flatMap(({ name, purgeItems: purge }) =>
    purge === 'no items' ? [] : [{ name, purge }],
  );
  // Also those that keep nothing of items: they may remember some.
  const all = namesOf(projections);
  if (items.length > 0) await inTransaction(db, (tx) => interruptProjections(tx, all));
  for (let from = 0; from < items.length; from += itemsAtOnce) {
    const some = items.slice(from, from + itemsAtOnce);
    await inTransaction(db, async (tx) => {
      await lockProjections(tx, namesOf(concerned));
      for (const { purge } of concerned) await purge(tx, some);
    });
  }
}

/** Removes rows whose time is over, a bounded number in each transaction. */
export async function expireProjections<Event>(
  db: Db,
  projections: readonly Projection<Event>[],
  signal: AbortSignal,
): Promise<void> {
  for (const remove of projections.flatMap(({ expire }) => expire)) {
    await inBatches(db, rowsAtOnce, signal, (tx) => remove(tx, rowsAtOnce));
  }
}

function namesOf(projections: readonly { readonly name: string }[]): string[] {
  return projections.map(({ name }) => name);
}
