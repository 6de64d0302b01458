/** Taking items that were deleted for good out of what is stored of viewers. */
import { inTransaction, type Db } from '../../../platform/database/database.ts';
import type { DeletedItem } from '../../../platform/feature.ts';
import { encounterBytes, latestEncounters, readEncounters, writeEncounters } from './encounter.ts';
import { foldEncounters, lockViewers } from './viewer-queries.ts';

const viewersAtOnce = 2_000;

/**
 * Goes through all viewers of the items' organizations, some in each transaction. Call it when neither
 * the event log nor what the projection has read names the items any more.
 */
export async function forgetItemsOfViewers(
  db: Db,
  items: readonly DeletedItem[],
  signal: AbortSignal,
): Promise<void> {
  const organizationIds = [...new Set(items.map(({ organizationId }) => organizationId))];
  const serialNumbers = new Set(items.map(({ serialNumber }) => serialNumber));
  for (let after: Buffer | null = Buffer.alloc(0); after !== null;) {
    signal.throwIfAborted();
    const behind: Buffer = after;
    after = await inTransaction(db, async (tx) => {
      const viewers = await lockViewers(tx, organizationIds, { behind, limit: viewersAtOnce });
      const changed = viewers
        .filter(({ bytes }) => namesItem(bytes, serialNumbers))
        .map(({ key, bytes }) => {
          const kept = readEncounters(bytes);
          for (const serialNumber of serialNumbers) kept.delete(serialNumber);
          return { key: key.toString('latin1'), bytes: writeEncounters(latestEncounters(kept)) };
        });
      if (changed.length > 0) await foldEncounters(tx, changed);
      return viewers.length < viewersAtOnce ? null : (viewers.at(-1)?.key ?? null);
    });
  }
}

function namesItem(bytes: Buffer, serialNumbers: ReadonlySet<number>): boolean {
  for (let at = 0; at + encounterBytes <= bytes.length; at += encounterBytes) {
    if (serialNumbers.has(bytes.readUIntBE(at, 6))) return true;
  }
  return false;
}
