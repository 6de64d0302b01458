/** Fits the item vectors of an organization in a worker thread, so that nothing else waits. */
import type { Logger } from 'pino';
import type { Db } from '../../../platform/database/database.ts';
import { isDatabaseAway } from '../../../platform/database/database-errors.ts';
import { startWorkerThread } from '../../../platform/async/worker-thread.ts';
import type { FitInput, FitOutput } from './fit-worker.ts';
import { readWatchers, selectDueFits, storeFit, type DueFit } from './taste-queries.ts';

const viewersAtOnce = 500;

/** Fits the models that are due, one after another. */
export async function fitDueTastes(
  db: Db,
  log: Logger,
  intervalMs: number,
  signal: AbortSignal,
): Promise<void> {
  for (const due of await selectDueFits(db, intervalMs)) {
    signal.throwIfAborted();
    try {
      await fitTaste(db, due, signal);
    } catch (error) {
      if (signal.aborted || isDatabaseAway(error)) throw error;
      log.error(
        { err: error, organizationId: due.organizationId },
        'item similarity model could not be fitted',
      );
    }
  }
}

/**
 * Fits and stores a model.
 *
 * @returns false if the model was changed in the meantime and nothing was stored
 */
export async function fitTaste(db: Db, due: DueFit, signal: AbortSignal): Promise<boolean> {
  const startedAt = performance.now();
  await using thread = startWorkerThread<FitInput, FitOutput>(
    new URL('./fit-worker.ts', import.meta.url),
    signal,
  );
  let after: { lastAt: Date; key: Buffer } | null = null;
  for (;;) {
    signal.throwIfAborted();
    const viewers = await readWatchers(db, due.organizationId, after, viewersAtOnce);
    const last = viewers.at(-1);
    if (last === undefined) break;
    const taken = await thread.ask(viewers.map(({ bytes }) => bytes));
    if (viewers.length < viewersAtOnce || ('isFull' in taken && taken.isFull)) break;
    after = last;
  }
  const output = await thread.ask(null);
  if ('isFull' in output) throw new Error('fitting returned no model');
  const fitMs = Math.round(performance.now() - startedAt);
  return await storeFit(db, due, { ...output, fitMs });
}
