/**
 * Exports: an organization's data as a file.
 *
 *   (requested) → pending → processing → ready → expired
 *                    │          ├────→ failed
 *                    └──────────┴────→ cancelled
 *
 * 1. The job `run-export` writes an export in parts of a few megabytes. A part is finished when its
 *    bytes are durable and a row records where the next one begins; after a crash the next attempt
 *    resumes there. Once an attempt has started, no earlier one can finish a part or the export.
 * 2. The file is complete and durable before the transaction that makes the export `ready`. That
 *    transaction also records `export.ready`.
 * 3. A ready export can be downloaded for seven days by a signed URL that needs no key. Then its
 *    file is removed and it is `expired`; 30 days later its row is deleted.
 * 4. When a viewer is erased, every export that may contain their data loses its file, and a
 *    running one starts over (`revision`).
 * 5. If an export has failed, or was cancelled or deleted, `run-export` removes its files. A
 *    cancellation relies on the existing job, while a failure or a deletion enqueues one.
 */
import { Type } from 'typebox';
import type { Tx } from '../../platform/database/database.ts';
import { ApiError, fieldError } from '../../platform/http/errors.ts';
import {
  newTypeId,
  parseTypeId,
  type OrganizationId,
  type TypeId,
} from '../../platform/values/ids.ts';
import { defineJob, doublingDelay, type Job } from '../../platform/queue/job-definition.ts';
import { enqueue } from '../../platform/queue/queue.ts';
import { dayMs, formatTimestamp, parseTimestamp } from '../../platform/values/time.ts';
import type { DownloadUrls } from './download-urls.ts';
import { readFilter, type ReportFilter } from '../analytics/analytics.ts';
import { readOrganizationClock } from '../organizations/organizations.ts';
import { datasetReaders } from './datasets/datasets.ts';
import {
  cancelUnfinished,
  deleteExportRow,
  failExport,
  findExport,
  insertExport,
  lockUnfinished,
  type ExportKey,
  type ExportRow,
} from './queries.ts';
import type { Compression, Dataset, ExportFormat } from './tables.ts';

export { describeDatasets } from './describe.ts';

export type ExportId = TypeId<'dex'>;

export type NewExport = {
  readonly dataset: Dataset;
  readonly startDate: string;
  readonly endDate: string;
  readonly format: ExportFormat;
  readonly compression?: Compression;
  readonly filter?: ReportFilter;
};

export const runExportJob: Job<{ exportId: string }> = defineJob({
  name: 'run-export',
  payload: Type.Object({ exportId: Type.String() }),
  timeoutMs: 6 * 3_600_000,
  // Each attempt resumes where the previous one was killed.
  retry: { maxAttempts: 20, delayMs: doublingDelay(1_000, 5 * 60_000) },
  concurrency: 1,
  async onExhausted(tx, { exportId }, { organizationId }) {
    const hasFailed = await failExport(tx, { organizationId, exportId });
    // Removes what its attempts have stored.
    if (hasFailed) await enqueue(tx, runExportJob, { exportId }, { organizationId });
  },
});

const maxUnfinished = 10;
/** Typical duration of an export of a day or two. */
const retryAfterSeconds = 10;
const maxDays = 366;

/** @throws ApiError VALIDATION_ERROR, RATE_LIMITED */
export async function createExport(
  tx: Tx,
  organizationId: OrganizationId,
  wanted: NewExport,
  scheduleId: string | null = null,
): Promise<ExportRow> {
  const { dataset, format, compression = 'none', startDate, endDate } = wanted;
  const days = (readDay('endDate', endDate) - readDay('startDate', startDate)) / dayMs + 1;
  if (days < 1) throw fieldError('endDate', 'must not be before startDate');
  if (days > maxDays)
    throw fieldError('endDate', `must be at most ${maxDays - 1} days after startDate`);
  const filter = readExportFilter(dataset, wanted.filter);
  if ((await lockUnfinished(tx, organizationId)) >= maxUnfinished) {
    throw new ApiError('RATE_LIMITED', {
      message: `An organization can have at most ${maxUnfinished} unfinished exports. Wait for one to finish, or cancel one.`,
      headers: { 'retry-after': String(retryAfterSeconds) },
    });
  }
  const { timeZone } = await readOrganizationClock(tx, organizationId);
  const exportId = newTypeId('dex');
  const row = await insertExport(tx, {
    organizationId,
    exportId,
    dataset,
    format,
    compression,
    startDay: startDate,
    endDay: endDate,
    filter,
    timeZone,
    scheduleId,
  });
  await enqueue(tx, runExportJob, { exportId }, { organizationId });
  return row;
}

/** @throws ApiError VALIDATION_ERROR also for a filter that the dataset does not support */
export function readExportFilter(dataset: Dataset, filter: ReportFilter = {}): ReportFilter {
  const { filters } = datasetReaders[dataset];
  for (const name of Object.keys(filter) as (keyof ReportFilter)[]) {
    if (!filters.includes(name)) {
      throw fieldError(`filter.${name}`, `does not apply to the dataset ${dataset}`);
    }
  }
  return readFilter(filter, 'filter') ?? {};
}

/** Idempotent. @throws ApiError NOT_FOUND, or CONFLICT if it has already ended in another way */
export async function cancelExport(tx: Tx, key: ExportKey): Promise<ExportRow> {
  const cancelled = await cancelUnfinished(tx, key);
  if (cancelled !== null) return cancelled;
  const row = await findExport(tx, key);
  if (row === null) throw noSuchExport();
  if (row.status === 'cancelled') return row;
  throw new ApiError('CONFLICT', {
    message: `The export is ${row.status}. Only an unfinished export can be cancelled.`,
  });
}

/** @throws ApiError NOT_FOUND */
export async function deleteExport(tx: Tx, key: ExportKey): Promise<void> {
  if (!(await deleteExportRow(tx, key))) throw noSuchExport();
  const { organizationId, exportId } = key;
  await enqueue(tx, runExportJob, { exportId }, { organizationId });
}

/** @throws ApiError VALIDATION_ERROR */
export function readDay(name: string, value: string): number {
  const day = /^\d{4}-\d\d-\d\d$/.test(value) ? parseTimestamp(`${value}T00:00:00Z`) : null;
  if (day === null) throw fieldError(name, 'must be a day such as 2026-01-31');
  return day.getTime();
}

export function parseExportId(id: string): ExportId {
  const exportId = parseTypeId('dex', id);
  if (exportId === null) throw noSuchExport();
  return exportId;
}

export function noSuchExport(): ApiError {
  return new ApiError('NOT_FOUND', { message: 'There is no export with this id.' });
}

export function presentExport(row: ExportRow, urls: DownloadUrls) {
  const isReady = row.status === 'ready' && row.expires_at !== null;
  return {
    id: row.export_id,
    dataset: row.dataset,
    startDate: row.start_day,
    endDate: row.end_day,
    format: row.format,
    compression: row.compression,
    filter: row.filter,
    timeZone: row.time_zone,
    scheduleId: row.schedule_id,
    status: row.status,
    progress: Math.round(row.progress * 1_000) / 1_000,
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
