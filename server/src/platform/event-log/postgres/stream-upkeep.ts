/**
 * Maintenance of the stream that holds the bytes of blocks: removes messages that no block refers
 * to.
 *
 * Joining or rewriting blocks leaves their messages behind; the same transaction records these as
 * garbage. A process that dies after storing a message, but before a block refers to it, leaves
 * garbage that is not recorded; a search finds it among messages that are old enough. Messages of
 * expired days are removed one day later than the blocks, because a block may be stored at
 * midnight.
 */
import { inTransaction, type Db } from '../../database/database.ts';
import { dayMs } from '../../values/time.ts';
import { dayOf, type BlockStream } from '../block-stream.ts';
import {
  addGarbage,
  deleteGarbage,
  lockGarbage,
  rememberStream,
  saveSearch,
  selectGarbage,
  selectSearch,
  selectUnnamed,
} from './stream-queries.ts';

/** Far longer than a transaction of the log may take. */
const defaultMinAgeMs = 10 * 60_000;
const garbageBatch = 1_000;
const searchBatch = 50_000;

/** @throws Error if the database was using another stream, whose blocks this stream lacks */
export async function bindStream(db: Db, stream: BlockStream): Promise<void> {
  const { name, created } = stream.identity;
  const used = await rememberStream(db, stream.identity);
  if (used.name === name && used.created === created) return;
  throw new Error(
    `The event log has blocks in the stream ${used.name}, created at ${used.created}, but ` +
      `REELFEED_EVENT_LOG points to ${name}, created at ${created}. Restore the former stream from its ` +
      'backup, or see "The event log in JetStream" in docs/operations.md.',
  );
}

/** Removes recorded garbage, unless a running backup prevents it. */
export async function removeGarbage(
  db: Db,
  stream: BlockStream,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted && (await removeSome(db, stream)));
}

/** @returns whether there may be more */
function removeSome(db: Db, stream: BlockStream): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    if (!(await lockGarbage(tx))) return false;
    const sequences = await selectGarbage(tx, garbageBatch);
    if (sequences.length === 0) return false;
    await stream.remove(sequences);
    await deleteGarbage(tx, sequences);
    return true;
  });
}

/**
 * Finds messages that a process stored but no block refers to, and records them as garbage.
 *
 * @param minAgeMs minimum age of a message
 */
export async function findLostMessages(
  db: Db,
  stream: BlockStream,
  minAgeMs = defaultMinAgeMs,
): Promise<void> {
  const search = await selectSearch(db);
  if (search === null || search.boundAgeMs < minAgeMs) return;
  const newest = await stream.lastSequence();
  const { bound } = search;
  for (let from = search.searchedTo; from < bound; from += searchBatch) {
    const last = Math.min(bound, from + searchBatch);
    await inTransaction(db, async (tx) => addGarbage(tx, await selectUnnamed(tx, from, last)));
  }
  await saveSearch(db, { searchedTo: bound, bound: newest });
}

export async function expireMessages(stream: BlockStream, retentionDays: number): Promise<void> {
  await stream.removeDaysBefore(dayOf(Date.now()) - (retentionDays + 1) * dayMs);
}
