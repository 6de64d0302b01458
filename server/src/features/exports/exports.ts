/**
 * Exports: data of an organization as a file.
 *
 *   (asked for) → pending → processing → ready → expired
 *                               └────→ failed
 *
 * 1. The job `run-export` moves an export on. Each attempt writes a file of its own, and once the next
 *    has begun an attempt can't make the export ready any more; the next removes what it has left.
 * 2. The file is complete and durable before the transaction that makes the export `ready`; that
 *    transaction also records `export.ready`.
 * 3. A ready export can be downloaded for seven days, by a signed URL that needs no key. Then
 *    its file
 *    is removed and it is `expired`; 30 days after that it is forgotten.
 * 4. When a viewer is erased, every export of events that may hold their data loses its file,
 *    and one
 *    that is being made starts over (`revision`).
 */
import { Type } from 'typebox';
import type { Tx } from '../../platform/database/database.ts';
import { ApiError, fieldError } from '../../platform/http/errors.ts';
import { newTypeId, parseTypeId, type OrganizationId, type TypeId } from '../../platform/ids.ts';
import { defineJob, doublingDelay } from '../../platform/queue/job-definition.ts';
import { enqueue } from '../../platform/queue/queue.ts';
import { dayMs, formatTimestamp, parseTimestamp } from '../../platform/time.ts';
import type { DownloadUrls } from './download-urls.ts';
import { failExport, insertExport, lockUnfinished, type ExportRow } from './queries.ts';
import type { Compression, Dataset, Format } from './tables.ts';

export type ExportId = TypeId<'dex'>;

/** The days of an export as moments, `endMs` excluded. */
export type ExportRange = {
  readonly organizationId: OrganizationId;
  readonly startMs: number;
  readonly endMs: number;
};

export type NewExport = {
  readonly dataset: Dataset;
  readonly startDate: string;
  readonly endDate: string;
  readonly format: Format;
  readonly compression?: Compression;
};

export const runExportJob = defineJob({
  name: 'run-export',
  payload: Type.Object({ exportId: Type.String() }),
  timeoutMs: 6 * 3_600_000,
  retry: { maxAttempts: 5, delayMs: doublingDelay(1_000, 5 * 60_000) },
  concurrency: 1,
  onExhausted: (tx, { exportId }, { organizationId }) =>
    failExport(tx, { organizationId, exportId }),
});

const maxUnfinished = 10;
/** Exports of a day or two take about so long. */
const retryAfterSeconds = 10;
const maxDays = 366;

/** @throws ApiError VALIDATION_ERROR, RATE_LIMITED */
export async function createExport(
  tx: Tx,
  organizationId: OrganizationId,
  wanted: NewExport,
): Promise<ExportRow> {
  const { dataset, format, compression = 'none', startDate, endDate } = wanted;
  const days = (readDay('endDate', endDate) - readDay('startDate', startDate)) / dayMs + 1;
  if (days < 1) throw fieldError('endDate', 'must not be before startDate');
  if (days > maxDays) throw fieldError('endDate', `must be at most ${maxDays - 1} days later`);
  if ((await lockUnfinished(tx, organizationId)) >= maxUnfinished) {
    throw new ApiError('RATE_LIMITED', {
      message: `An organization can have ${maxUnfinished} unfinished exports. Wait for one to end.`,
      headers: { 'retry-after': String(retryAfterSeconds) },
    });
  }
  const exportId = newTypeId('dex');
  const row = await insertExport(tx, {
    organizationId,
    exportId,
    dataset,
    format,
    compression,
    startDay: startDate,
    endDay: endDate,
  });
  await enqueue(tx, runExportJob, { exportId }, { organizationId });
  return row;
}

function readDay(name: string, value: string): number {
  const day = /^\d{4}-\d\d-\d\d$/.test(value) ? parseTimestamp(`${value}T00:00:00Z`) : null;
  if (day === null) throw fieldError(name, 'must be a day such as 2026-01-31');
  return day.getTime();
}

export function rangeOf(organizationId: OrganizationId, row: ExportRow): ExportRange {
  return {
    organizationId,
    startMs: Date.parse(row.start_day),
    endMs: Date.parse(row.end_day) + dayMs,
  };
}

export function parseExportId(id: string): ExportId {
  const exportId = parseTypeId('dex', id);
  if (exportId === null) throw noSuchExport();
  return exportId;
}

export function noSuchExport(): ApiError {
  return new ApiError('NOT_FOUND', { message: 'There is no such export.' });
}

/** An export as the API answers it. */
export function presentExport(row: ExportRow, urls: DownloadUrls) {
  const isReady = row.status === 'ready' && row.expires_at !== null;
  return {
    id: row.export_id,
    dataset: row.dataset,
    startDate: row.start_day,
    endDate: row.end_day,
    format: row.format,
    compression: row.compression,
    status: row.status,
    rowCount: row.row_count,
    fileSize: row.file_size,
    downloadUrl:
      isReady && row.expires_at !== null ? urls.sign(row.export_id, row.expires_at) : null,
    error: row.error_message,
    createdAt: formatTimestamp(row.created_at),
    completedAt: formatTimestamp(row.completed_at),
    expiresAt: formatTimestamp(row.expires_at),
  };
}
