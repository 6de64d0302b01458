import { inTransaction, type Db, type Tx } from './database.ts';

/**
 * Repeats `step`, each time in a separate transaction, until it handles less than a full batch or
 * the signal aborts. Work over many rows therefore never holds locks for long.
 *
 * @param step handles at most `batchSize` rows and returns how many it handled
 * @returns the total number of handled rows
 */
export async function inBatches(
  db: Db,
  batchSize: number,
  signal: AbortSignal,
  step: (tx: Tx) => Promise<number>,
): Promise<number> {
  let total = 0;
  while (!signal.aborted) {
    const handled = await inTransaction(db, step);
    total += handled;
    if (handled < batchSize) break;
  }
  return total;
}
