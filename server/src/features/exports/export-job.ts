/** Creates the file of an export. */
import { inTransaction, type Db } from '../../platform/database/database.ts';
import type { OrganizationId } from '../../platform/values/ids.ts';
import { done, handle, skipped, type HandledJob } from '../../platform/queue/job-handler.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { wasRolledBack } from '../uploads/uploads.ts';
import { recordEvent } from '../webhooks/webhooks.ts';
import type { DownloadUrls } from './download-urls.ts';
import { makeExportFile, OvertakenExportError, type ExportAttemptParts } from './export-attempt.ts';
import {
  exportFileKey,
  listStored,
  newExportFile,
  removeExportFiles,
  removeExportPieces,
} from './export-files.ts';
import { runExportJob } from './exports.ts';
import {
  findExport,
  finishExport,
  startExport,
  type ExportFile,
  type ExportKey,
  type ExportRow,
} from './queries.ts';

const keptDays = 7;

export type ExportJobParts = ExportAttemptParts & { readonly urls: DownloadUrls };

export function exportHandler(parts: ExportJobParts): HandledJob {
  const { db, storage, urls } = parts;
  return handle(runExportJob, async ({ exportId }, context) => {
    const organizationId = context.organizationId as OrganizationId;
    const file = newExportFile({ organizationId, exportId });
    // Listed before the start, because an earlier attempt records nothing new after it.
    const earlier = await listStored(storage, file);
    const started = await inTransaction(db, (tx) => startExport(tx, file));
    if (started === null) {
      await removeUnwanted(db, storage, file);
      return skipped('the export has ended');
    }
    const { row, parts: finished } = started;
    const named = new Set(row.pieces.map(({ key }) => key));
    await removeExportPieces(
      storage,
      earlier.filter((key) => !named.has(key)),
    );
    const stored = new Set<string>();
    const note = (keys: readonly string[]) => keys.forEach((key) => stored.add(key));
    let isWanted = true;
    try {
      const attempt = { file, row, done: finished };
      const made = await makeExportFile(parts, attempt, note, context.signal);
      await context.finish(async (tx) => {
        const ready = await finishExport(tx, file, { ...made, revision: row.revision, keptDays });
        isWanted = ready !== null;
        if (ready === null) throw new OvertakenExportError();
        await recordEvent(tx, organizationId, 'export.ready', eventData(ready, urls));
      });
    } catch (error) {
      note([exportFileKey(file)]);
      isWanted &&= !(error instanceof OvertakenExportError);
      await removeUnnamed(parts, { file, stored }, { error, isWanted });
      if (error instanceof OvertakenExportError && (await isOver(db, file))) {
        await removeUnwanted(db, storage, file);
        return skipped('the export was cancelled');
      }
      throw error;
    }
    // The file contains their bytes. If this is interrupted, they are removed together with the
    // file when it expires.
    await removeExportPieces(storage, stored);
    return done;
  });
}

/** Removes all objects of an export that has failed, or was cancelled or deleted. */
async function removeUnwanted(db: Db, storage: Storage, key: ExportKey): Promise<void> {
  const row = await findExport(db, key);
  const isUnwanted = row === null || row.status === 'cancelled' || row.status === 'failed';
  if (isUnwanted) await removeExportFiles(storage, [key]);
}

async function isOver(db: Db, key: ExportKey): Promise<boolean> {
  const row = await findExport(db, key);
  return row === null || row.status === 'cancelled';
}

/**
 * Removes objects of a failed attempt that no row refers to, provided that none ever will. The
 * others stay until the next attempt or the end of the export.
 */
async function removeUnnamed(
  { db, storage }: ExportJobParts,
  { file, stored }: { file: ExportFile; stored: ReadonlySet<string> },
  { error, isWanted }: { error: unknown; isWanted: boolean },
): Promise<void> {
  const row = await findExport(db, file).catch(() => undefined);
  if (row === undefined) return;
  const isUnnamed = !isWanted || wasRolledBack(error) || row?.file_name !== file.fileName;
  if (!isUnnamed) return;
  const named = new Set(row?.pieces.map(({ key }) => key));
  if (row?.status === 'ready') named.add(exportFileKey({ ...file, fileName: row.file_name }));
  await removeExportPieces(
    storage,
    [...stored].filter((key) => !named.has(key)),
  );
}

function eventData(row: ExportRow, urls: DownloadUrls) {
  const expiresAt = row.expires_at ?? new Date();
  return {
    exportId: row.export_id,
    status: row.status,
    format: row.format,
    downloadUrl: urls.sign(row.export_id, expiresAt),
    expiresAt: expiresAt.toISOString(),
    rowCount: row.row_count ?? 0,
    fileSize: row.file_size ?? 0,
  };
}
