/** Makes the file of an export. */
import { inTransaction, type Db } from '../../platform/database/database.ts';
import type { OrganizationId } from '../../platform/ids.ts';
import { done, handle, skipped, type HandledJob } from '../../platform/queue/job-handler.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import type { EngagementLog } from '../events/events.ts';
import { wasRolledBack } from '../uploads/uploads.ts';
import { recordEvent } from '../webhooks/webhooks.ts';
import { analyticsColumns, readAnalyticsRows } from './analytics-rows.ts';
import { contentColumns, readContentRows } from './content-rows.ts';
import type { DownloadUrls } from './download-urls.ts';
import { eventColumns, readEventRows } from './event-rows.ts';
import {
  listExportFiles,
  newExportFile,
  removeExportFile,
  storeExportFile,
} from './export-files.ts';
import { rangeOf, runExportJob, type ExportRange } from './exports.ts';
import { encodeRows } from './formats.ts';
import {
  findExport,
  finishExport,
  startExport,
  type ExportFile,
  type ExportRow,
} from './queries.ts';
import type { RowSource } from './rows.ts';
import type { Dataset } from './tables.ts';

export const keptDays = 7;

export type ExportJobParts = {
  readonly db: Db;
  readonly storage: Storage;
  readonly eventLog: EngagementLog;
  readonly urls: DownloadUrls;
};

export function exportHandler(parts: ExportJobParts): HandledJob {
  const { db, storage, urls } = parts;
  return handle(runExportJob, async ({ exportId }, context) => {
    const { signal } = context;
    const organizationId = context.organizationId as OrganizationId;
    const file = newExportFile({ organizationId, exportId });
    // Listed before the start, after which none of these can become the file of the export.
    const earlier = await listExportFiles(storage, file);
    const row = await inTransaction(db, (tx) => startExport(tx, file));
    if (row === null) return skipped('the export has ended');
    for (const left of earlier) await removeExportFile(storage, left);
    const source = sourceOf(parts, row.dataset, rangeOf(organizationId, row), signal);
    const encoded = encodeRows(source, row.format, row.compression);
    const sizeBytes = await storeExportFile(storage, file, encoded.bytes, signal);
    const result = { revision: row.revision, rowCount: encoded.rowCount(), sizeBytes, keptDays };
    let isWanted = true;
    try {
      await context.finish(async (tx) => {
        const ready = await finishExport(tx, file, result);
        isWanted = ready !== null;
        if (ready === null) throw new Error('data of the export was erased; it starts over');
        await recordEvent(tx, organizationId, 'export.ready', eventData(ready, urls));
      });
    } catch (error) {
      if (!isWanted || (await isUnnamed(db, file, error))) await removeExportFile(storage, file);
      throw error;
    }
    return done;
  });
}

/**
 * Whether it is certain that the export does not name this file, and never will. Otherwise the file
 * stays, and the next attempt or the end of the export removes it.
 */
async function isUnnamed(db: Db, file: ExportFile, error: unknown): Promise<boolean> {
  if (wasRolledBack(error)) return true;
  const row = await findExport(db, file).catch(() => undefined);
  return row !== undefined && row?.file_name !== file.fileName;
}

function sourceOf(
  { db, eventLog }: ExportJobParts,
  dataset: Dataset,
  range: ExportRange,
  signal: AbortSignal,
): RowSource {
  switch (dataset) {
    case 'events':
      return { columns: eventColumns, batches: readEventRows(eventLog, range, signal) };
    case 'content':
      return { columns: contentColumns, batches: readContentRows(db, range, signal) };
    case 'analytics':
      return { columns: analyticsColumns, batches: readAnalyticsRows(db, range, signal) };
    default:
      return dataset satisfies never;
  }
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
