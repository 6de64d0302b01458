/** Records `content.import.finished` once all items of a request are ready or have failed. */
import { inBatches } from '../../platform/database/batches.ts';
import type { Db, Tx } from '../../platform/database/database.ts';
import { recordEvent } from '../webhooks/webhooks.ts';
import { listImported, removeFinished, type FinishedImport } from './queries.ts';

const finishedAtOnce = 50;

/** The event and the end of the import are in one transaction, so it is recorded exactly once. */
export async function finishImports(db: Db, signal: AbortSignal): Promise<void> {
  await inBatches(db, finishedAtOnce, signal, async (tx) => {
    const finished = await listImported(tx, finishedAtOnce);
    for (const one of finished) await recordFinish(tx, one);
    await removeFinished(tx, finished);
    return finished.length;
  });
}

async function recordFinish(tx: Tx, finished: FinishedImport): Promise<void> {
  const { organizationId, importId, createdAt, totalItems } = finished;
  const items = finished.items.map(({ contentId, externalId, status, code, message }) => ({
    contentId,
    externalId,
    status,
    error: status === 'error' ? { code: code ?? '', message: message ?? '' } : null,
  }));
  await recordEvent(tx, organizationId, 'content.import.finished', {
    importId,
    totalItems,
    readyItems: items.filter(({ status }) => status === 'ready').length,
    failedItems: items.filter(({ status }) => status === 'error').length,
    items,
    createdAt: createdAt.toISOString(),
  });
}
