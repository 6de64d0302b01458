/**
 * Erasure, purges and expiry in the tables of all projections. Erasures and purges also reach the
 * copies that a rebuild is filling: it may have read the events before they were removed from the
 * log.
 */
import { inTransaction, type Db, type Tx } from '../database/database.ts';
import { inBatches } from '../database/batches.ts';
import { partitionOf } from './partitions.ts';
import { isDivided, type ProjectedItem, type Projection, type Viewer } from './projection.ts';
import { inSchema, interruptProjections, lockProjections, type Concerned } from './queries.ts';
import { schemaOfCopies, selectCopied } from './rebuild-queries.ts';

const rowsAtOnce = 2_000;
const itemsAtOnce = 100;

/**
 * Removes what projections store about one viewer. Must be called after the viewer's events are
 * gone from the log, so that no later pass reads them. Idempotent.
 *
 * @returns the number of removed rows
 */
export async function eraseFromProjections<Event>(
  db: Db,
  projections: readonly Projection<Event>[],
  viewer: Viewer,
): Promise<number> {
  const concerned = projections.flatMap((projection) => {
    const { eraseViewer: erase } = projection;
    if (erase === 'no viewer data') return [];
    return [{ ...partitionsOf(projection, [viewer.organizationId]), erase }];
  });
  return inTransaction(db, async (tx) => {
    // A process that is writing now has read the states, and must not write them back.
    await interruptProjections(tx, concerned);
    let removed = 0;
    for (const { erase } of concerned) removed += await erase(tx, viewer);
    await inCopies(tx, concerned, async ({ erase, ...one }) => {
      await interruptProjections(tx, [one]);
      await erase(tx, viewer);
    });
    return removed;
  });
}

/**
 * Removes what projections store about permanently deleted items. Waits for the current pass, and
 * makes writers forget what they have read. Later passes read the log without the items and write
 * nothing for them. Removes a few items per transaction, so that projections never wait for long.
 */
export async function purgeFromProjections<Event>(
  db: Db,
  projections: readonly Projection<Event>[],
  items: readonly ProjectedItem[],
): Promise<void> {
  const organizationIds = items.map(({ organizationId }) => organizationId);
  const concerned = projections.flatMap((projection) => {
    const { purgeItems: purge } = projection;
    if (purge === 'no items') return [];
    return [{ ...partitionsOf(projection, organizationIds), purge }];
  });
  // Includes projections without rows about items, because their writers may have some in memory.
  const all = projections.map((projection) => partitionsOf(projection, organizationIds));
  if (items.length > 0) {
    await inTransaction(db, async (tx) => {
      await interruptProjections(tx, all);
      await inCopies(tx, all, (one) => interruptProjections(tx, [one]));
    });
  }
  for (let from = 0; from < items.length; from += itemsAtOnce) {
    const some = items.slice(from, from + itemsAtOnce);
    await inTransaction(db, async (tx) => {
      await lockProjections(tx, concerned);
      for (const { purge } of concerned) await purge(tx, some);
      await inCopies(tx, concerned, async ({ purge, ...one }) => {
        await lockProjections(tx, [one]);
        await purge(tx, some);
      });
    });
  }
}

/**
 * Repeats work in the copies of those projections that are being rebuilt. The projections must be
 * locked, so that meanwhile no copies are created and none replace the tables.
 */
async function inCopies<One extends Concerned>(
  tx: Tx,
  concerned: readonly One[],
  work: (one: One) => Promise<void>,
): Promise<void> {
  const copied = await selectCopied(
    tx,
    concerned.map(({ name }) => name),
  );
  for (const one of concerned.filter(({ name }) => copied.includes(name))) {
    await inSchema(tx, schemaOfCopies(one.name), () => work(one));
  }
}

/** Removes expired rows, a limited number in each transaction. */
export async function expireProjections<Event>(
  db: Db,
  projections: readonly Projection<Event>[],
  signal: AbortSignal,
): Promise<void> {
  for (const remove of projections.flatMap(({ expire }) => expire)) {
    await inBatches(db, rowsAtOnce, signal, (tx) => remove(tx, rowsAtOnce));
  }
}

/** The partitions that contain rows of organizations. */
function partitionsOf<Event>(
  projection: Projection<Event>,
  organizationIds: readonly string[],
): Concerned {
  const { name } = projection;
  if (isDivided(projection)) return { name };
  return { name, partitions: [...new Set(organizationIds.map((id) => partitionOf(id)))] };
}
