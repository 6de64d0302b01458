import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/database/database.ts';
import { isBehind, type KeysetPage } from '../../platform/database/keyset.ts';
import type { OrganizationId } from '../../platform/values/ids.ts';
import type { Piece } from '../../platform/storage/storage.ts';
import type { ReportFilter } from '../analytics/analytics.ts';
import type { ReadPosition } from './datasets/dataset.ts';
import type { Compression, Dataset, ExportStatus, ExportFormat } from './tables.ts';

export type ExportRow = {
  export_id: string;
  dataset: Dataset;
  format: ExportFormat;
  compression: Compression;
  start_day: string;
  end_day: string;
  status: ExportStatus;
  revision: number;
  file_name: string | null;
  row_count: number | null;
  file_size: number | null;
  error_message: string | null;
  created_at: Date;
  completed_at: Date | null;
  expires_at: Date | null;
  filter: ReportFilter;
  time_zone: string;
  schedule_id: string | null;
  progress: number;
  pieces: Piece[];
};

export type ExportKey = { readonly organizationId: string; readonly exportId: string };
/** A file of an export. A null name is from a version in which all attempts wrote the same file. */
export type ExportFile = ExportKey & { readonly fileName: string | null };

const columns = sql`export_id, dataset, format, compression, start_day::text as start_day,
  end_day::text as end_day, status, revision, file_name, row_count, file_size, error_message, created_at,
  completed_at, expires_at, filter, time_zone, schedule_id, progress,
  pieces`;

export type NewExportRow = ExportKey & {
  readonly dataset: Dataset;
  readonly format: ExportFormat;
  readonly compression: Compression;
  readonly startDay: string;
  readonly endDay: string;
  readonly filter: ReportFilter;
  readonly timeZone: string;
  readonly scheduleId: string | null;
};

export async function insertExport(tx: Tx, values: NewExportRow): Promise<ExportRow> {
  const { organizationId, exportId, dataset, format, compression, startDay, endDay } = values;
  const { rows } = await sql<ExportRow>`
    insert into data_export (export_id, organization_id, dataset, format, compression, start_day,
      end_day, filter, time_zone, schedule_id)
    values (${exportId}, ${organizationId}, ${dataset}, ${format}, ${compression},
      ${startDay}::date, ${endDay}::date, ${JSON.stringify(values.filter)}::jsonb,
      ${values.timeZone}, ${values.scheduleId})
    returning ${columns}`.execute(tx);
  const [row] = rows;
  if (row === undefined) throw new Error('The export was not written.');
  return row;
}

/**
 * The number of unfinished exports, locked against increases until the transaction ends. Without
 * the lock, concurrent requests would all see the same count.
 */
export async function lockUnfinished(tx: Tx, organizationId: OrganizationId): Promise<number> {
  await sql`
    select pg_advisory_xact_lock(hashtextextended(${`exports ${organizationId}`}, 77))`.execute(tx);
  const { rows } = await sql<{ unfinished: number }>`
    select count(*) as unfinished from data_export
    where organization_id = ${organizationId} and status in ('pending', 'processing')`.execute(tx);
  return rows[0]?.unfinished ?? 0;
}

export async function findExport(db: Db, key: ExportKey): Promise<ExportRow | null> {
  const { rows } = await sql<ExportRow>`
    select ${columns} from data_export
    where organization_id = ${key.organizationId} and export_id = ${key.exportId}`.execute(db);
  return rows[0] ?? null;
}

/** Finds an export by its id alone, for signed URLs, which don't name the organization. */
export async function findDownload(
  db: Db,
  exportId: string,
): Promise<(ExportRow & { organization_id: string }) | null> {
  const { rows } = await sql<ExportRow & { organization_id: string }>`
    select organization_id, ${columns} from data_export
    where export_id = ${exportId} and status = 'ready'`.execute(db);
  return rows[0] ?? null;
}

export async function countExports(db: Db, organizationId: OrganizationId): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from data_export
    where organization_id = ${organizationId}`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Newest first. `position` is the exact creation time, for the next page. */
export async function listExports(
  db: Db,
  organizationId: OrganizationId,
  page: KeysetPage,
): Promise<(ExportRow & { position: string })[]> {
  const { rows } = await sql<ExportRow & { position: string }>`
    select ${columns}, created_at::text as position from data_export
    where organization_id = ${organizationId}
      and ${isBehind('created_at', 'export_id', page.after)}
    order by created_at desc, export_id desc limit ${page.limit}`.execute(db);
  return rows;
}

/**
 * Starts an attempt that will write `fileName`. From here on no earlier attempt can make the export
 * ready. Returns null if there is nothing left to do.
 */
export async function startExport(
  tx: Tx,
  file: ExportFile,
): Promise<{ row: ExportRow; parts: ExportPart[] } | null> {
  const { rows } = await sql<ExportRow>`
    update data_export set status = 'processing', file_name = ${file.fileName}
    where organization_id = ${file.organizationId} and export_id = ${file.exportId}
      and status in ('pending', 'processing')
    returning ${columns}`.execute(tx);
  const [row] = rows;
  if (row === undefined) return null;
  const parts = await sql<ExportPart>`
    select number, row_count as "rowCount", reader, writer from data_export_part
    where export_id = ${file.exportId} order by number`.execute(tx);
  return { row, parts: parts.rows };
}

/** A finished part of a file. */
export type ExportPart = {
  /** Starts at 1. */
  readonly number: number;
  /** Cumulative number of rows in the file. */
  readonly rowCount: number;
  readonly reader: ReadPosition;
  readonly writer: string;
};

/**
 * Records a finished part, unless something was erased or another attempt has started since this
 * attempt began, or the export was cancelled.
 *
 * @param pieces the durable bytes of all parts so far
 * @returns whether it was recorded
 */
export async function saveExportPart(
  db: Db,
  file: ExportFile,
  part: ExportPart & { revision: number; progress: number; pieces: readonly Piece[] },
): Promise<boolean> {
  const { rows } = await sql`
    with claimed as (
      update data_export set progress = greatest(progress, ${part.progress}::real),
        pieces = ${JSON.stringify(part.pieces)}::jsonb
      where organization_id = ${file.organizationId} and export_id = ${file.exportId}
        and status = 'processing' and revision = ${part.revision}
        and file_name = ${file.fileName}
      returning export_id
    )
    insert into data_export_part (export_id, number, row_count, reader, writer)
    select export_id, ${part.number}, ${part.rowCount}, ${JSON.stringify(part.reader)}::jsonb,
      ${part.writer} from claimed
    returning number`.execute(db);
  return rows.length > 0;
}

/**
 * Makes an export ready, unless some of its data was erased or another attempt has started since
 * this attempt began.
 *
 * @returns the export, or null if this attempt's file is no longer needed
 */
export async function finishExport(
  tx: Tx,
  key: ExportFile,
  result: { revision: number; rowCount: number; sizeBytes: number; keptDays: number },
): Promise<ExportRow | null> {
  const { rows } = await sql<ExportRow>`
    update data_export set status = 'ready', progress = 1, pieces = '[]', row_count = ${result.rowCount},
      file_size = ${result.sizeBytes}, completed_at = now(),
      expires_at = date_trunc('second', now()) + make_interval(days => ${result.keptDays}::int)
    where organization_id = ${key.organizationId} and export_id = ${key.exportId}
      and status = 'processing' and revision = ${result.revision}
      and file_name = ${key.fileName}
    returning ${columns}`.execute(tx);
  return forgetParts(tx, rows[0]);
}

async function forgetParts(tx: Tx, ended: ExportRow | undefined): Promise<ExportRow | null> {
  if (ended === undefined) return null;
  await sql`delete from data_export_part where export_id = ${ended.export_id}`.execute(tx);
  return ended;
}

/** @returns whether the export had not ended before */
export async function failExport(tx: Tx, key: ExportKey): Promise<boolean> {
  const { rows } = await sql`
    update data_export set status = 'failed', completed_at = now(),
      error_message = 'The export could not be made. Try it again.'
    where organization_id = ${key.organizationId} and export_id = ${key.exportId}
      and status in ('pending', 'processing')
    returning export_id`.execute(tx);
  return rows.length > 0;
}

/** Cancels an unfinished export. @returns null if there is none */
export async function cancelUnfinished(tx: Tx, key: ExportKey): Promise<ExportRow | null> {
  const { rows } = await sql<ExportRow>`
    update data_export set status = 'cancelled', completed_at = now(), pieces = '[]'
    where organization_id = ${key.organizationId} and export_id = ${key.exportId}
      and status in ('pending', 'processing')
    returning ${columns}`.execute(tx);
  return forgetParts(tx, rows[0]);
}

/** @returns whether the export existed */
export async function deleteExportRow(tx: Tx, key: ExportKey): Promise<boolean> {
  const { rows } = await sql`
    delete from data_export
    where organization_id = ${key.organizationId} and export_id = ${key.exportId}
    returning export_id`.execute(tx);
  return rows.length > 0;
}

/**
 * Drops the files of exports whose rows name viewers, and restarts running ones.
 *
 * @returns the exports whose files must be removed
 */
export async function withdrawExports(
  tx: Tx,
  organizationId: string,
  datasets: readonly Dataset[],
): Promise<ExportKey[]> {
  const { rows } = await sql<{ exportId: string; was: ExportStatus }>`
    with found as (
      select export_id, status from data_export
      where organization_id = ${organizationId} and dataset = any(${datasets}::text[]) for update
    )
    update data_export set revision = revision + 1, pieces = '[]',
      progress = case when found.status in ('pending', 'processing') then 0 else progress end,
      status = case when found.status = 'ready' then 'expired' else found.status end
    from found where data_export.export_id = found.export_id
    returning data_export.export_id as "exportId", found.status as was`.execute(tx);
  // After the update, a running attempt no longer records parts.
  await sql`
    delete from data_export_part
    where export_id = any(${rows.map(({ exportId }) => exportId)}::text[])`.execute(tx);
  // Includes failed and expired exports, because the process that ended them may have been killed
  // before removing their files. A running attempt removes its own.
  return rows
    .filter(({ was }) => was !== 'pending' && was !== 'processing')
    .map(({ exportId }) => ({ organizationId, exportId }));
}

/** Expires exports. @returns those whose files must be removed */
export async function expireExports(tx: Tx, limit: number): Promise<ExportKey[]> {
  const { rows } = await sql<ExportKey>`
    update data_export set status = 'expired' where export_id = any(array(
      select export_id from data_export
      where status = 'ready' and expires_at <= now() limit ${limit} for update skip locked))
    returning organization_id as "organizationId", export_id as "exportId"`.execute(tx);
  return rows;
}

/** Deletes exports that ended long ago. @returns those whose files must be removed */
export async function deleteOldExports(tx: Tx, days: number, limit: number): Promise<ExportKey[]> {
  const { rows } = await sql<ExportKey>`
    delete from data_export where export_id = any(array(
      select export_id from data_export
      where status in ('expired', 'failed', 'cancelled')
        and created_at < now() - make_interval(days => ${days}::int) limit ${limit}))
    returning organization_id as "organizationId", export_id as "exportId"`.execute(tx);
  return rows;
}
