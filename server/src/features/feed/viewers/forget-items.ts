/** Removes permanently deleted items from stored encounters. */
import { inTransaction, type Db } from '../../../platform/database/database.ts';
import type { DeletedItem } from '../../../platform/feature/feature.ts';
import { encounterBytes, latestEncounters, readEncounters, writeEncounters } from './encounter.ts';
import { foldEncounters, lockViewers } from './viewer-queries.ts';

const viewersAtOnce = 2_000;

/**
 * Scans all viewers of the items' organizations, in several transactions. Call it once neither the
 * event log nor what the projection has read refers to the items.
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
