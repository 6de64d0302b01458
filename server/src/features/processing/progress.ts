import { inTransaction, type Db } from '../../platform/database/database.ts';
import { recordProgress } from '../content/item-media/item-media.ts';

const progressIntervalMs = 1_000;

/** Writes progress at most once per second, one write at a time. Losing a write is harmless. */
export function reportProgress(db: Db, organizationId: string, contentId: string) {
  let writtenAt = performance.now();
  let writing: Promise<void> = Promise.resolve();
  let isWriting = false;
  return {
    report(fraction: number): void {
      if (isWriting || performance.now() - writtenAt < progressIntervalMs) return;
      writtenAt = performance.now();
      isWriting = true;
      writing = inTransaction(db, (tx) => recordProgress(tx, organizationId, contentId, fraction))
        .catch(() => undefined)
        .finally(() => {
          isWriting = false;
        });
    },
    settled: () => writing,
  };
}
