import { inTransaction, type Db, type Tx } from '../../platform/database/database.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { datasetReaders } from './datasets/datasets.ts';
import { restartBatches } from './destinations/destination-queries.ts';
import { removeExportFiles } from './export-files.ts';
import { deleteOldExports, expireExports, withdrawExports, type ExportKey } from './queries.ts';
import { datasets } from './tables.ts';

const rowsKeptDays = 37;
const exportsAtOnce = 50;
const namingViewers = datasets.filter((name) => datasetReaders[name].namesViewers);

export async function expireOldExports(
  db: Db,
  storage: Storage,
  signal: AbortSignal,
): Promise<void> {
  await removeInTurns(db, storage, signal, (tx) => expireExports(tx, exportsAtOnce));
  await removeInTurns(db, storage, signal, (tx) =>
    deleteOldExports(tx, rowsKeptDays, exportsAtOnce),
  );
}

/** If the process is killed before the file is removed, it is removed when the row is deleted. */
async function removeInTurns(
  db: Db,
  storage: Storage,
  signal: AbortSignal,
  end: (tx: Tx) => Promise<ExportKey[]>,
): Promise<void> {
  while (!signal.aborted) {
    const ended = await inTransaction(db, end);
    await removeExportFiles(storage, ended);
    if (ended.length < exportsAtOnce) return;
  }
}

/** Removes the files that may contain data of an erased viewer. Idempotent. */
export async function eraseFromExports(
  db: Db,
  storage: Storage,
  { organizationId }: { readonly organizationId: string },
): Promise<void> {
  const withdrawn = await inTransaction(db, async (tx) => {
    await restartBatches(tx, organizationId);
    return withdrawExports(tx, organizationId, namingViewers);
  });
  await removeExportFiles(storage, withdrawn);
}
