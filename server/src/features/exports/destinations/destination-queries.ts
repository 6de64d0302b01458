import { sql } from 'kysely';
import type { Db, Tx } from '../../../platform/database/database.ts';
import type { LogPosition } from '../../../platform/event-log/event-log.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import type { ReportFilter } from '../../analytics/analytics.ts';
import type { Compression } from '../tables.ts';

export type PushInterval = 'hour' | 'day';

export type DestinationRow = {
  destination_id: string;
  organization_id: OrganizationId;
  bucket: string;
  prefix: string;
  region: string | null;
  endpoint: string | null;
  path_style: boolean;
  /** Encrypted. */
  credentials: Buffer;
  every: PushInterval;
  compression: Compression;
  filter: ReportFilter;
  time_zone: string;
  position: LogPosition;
  number: number;
  until: LogPosition | null;
  revision: number;
  next_at: Date;
  pushed_rows: number;
  pushed_at: Date | null;
  last_error: string | null;
  created_at: Date;
};

const columns = sql`destination_id, organization_id, bucket, prefix, region, endpoint, path_style,
  credentials, every, compression, filter, time_zone, position, number, until,
  revision, next_at, pushed_rows, pushed_at, last_error, created_at`;

/** Serializes creations within an organization, so that concurrent ones cannot exceed the limit. */
export async function lockDestinations(tx: Tx, organizationId: OrganizationId): Promise<number> {
  await sql`
    select pg_advisory_xact_lock(
      hashtextextended(${`destinations ${organizationId}`}, 77))`.execute(tx);
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from export_destination
    where organization_id = ${organizationId}`.execute(tx);
  return rows[0]?.count ?? 0;
}

export type NewDestinationRow = Pick<
  DestinationRow,
  | 'destination_id'
  | 'organization_id'
  | 'bucket'
  | 'prefix'
  | 'region'
  | 'endpoint'
  | 'path_style'
  | 'credentials'
  | 'every'
  | 'compression'
  | 'filter'
  | 'time_zone'
  | 'position'
>;

export async function insertDestination(tx: Tx, row: NewDestinationRow): Promise<DestinationRow> {
  const { rows } = await sql<DestinationRow>`
    insert into export_destination (destination_id, organization_id, bucket, prefix, region, endpoint,
      path_style, credentials, every, compression, filter, time_zone, position)
    values (${row.destination_id}, ${row.organization_id}, ${row.bucket}, ${row.prefix},
      ${row.region}, ${row.endpoint}, ${row.path_style}, ${row.credentials},
      ${row.every}, ${row.compression},
      ${JSON.stringify(row.filter)}::jsonb, ${row.time_zone},
      ${JSON.stringify(row.position)}::jsonb)
    returning ${columns}`.execute(tx);
  const [inserted] = rows;
  if (inserted === undefined) throw new Error('The destination was not written.');
  return inserted;
}

/** Oldest first. */
export async function listDestinations(
  db: Db,
  organizationId: OrganizationId,
): Promise<DestinationRow[]> {
  const { rows } = await sql<DestinationRow>`
    select ${columns} from export_destination where organization_id = ${organizationId}
    order by created_at, destination_id`.execute(db);
  return rows;
}

export async function findDestination(
  db: Db,
  destinationId: string,
): Promise<DestinationRow | null> {
  const { rows } = await sql<DestinationRow>`
    select ${columns} from export_destination
    where destination_id = ${destinationId}`.execute(db);
  return rows[0] ?? null;
}

/** @returns whether the destination existed */
export async function deleteDestinationRow(
  tx: Tx,
  organizationId: OrganizationId,
  destinationId: string,
): Promise<boolean> {
  const { rows } = await sql`
    delete from export_destination
    where organization_id = ${organizationId} and destination_id = ${destinationId}
    returning destination_id`.execute(tx);
  return rows.length > 0;
}

/** The destinations of all organizations that are due for a push. */
export async function listDueDestinations(
  db: Db,
): Promise<Pick<DestinationRow, 'destination_id' | 'organization_id'>[]> {
  const { rows } = await sql<Pick<DestinationRow, 'destination_id' | 'organization_id'>>`
    select destination_id, organization_id from export_destination
    where next_at <= now() order by next_at limit 1000`.execute(db);
  return rows;
}

/** A batch, determined by its start and its end. */
export type PushBatch = {
  readonly destinationId: string;
  readonly number: number;
  readonly revision: number;
};

/** Begins the next batch, unless one is in progress. */
export async function beginBatch(
  db: Db,
  { destinationId, number }: PushBatch,
  until: LogPosition,
): Promise<void> {
  await sql`
    update export_destination set until = ${JSON.stringify(until)}::jsonb
    where destination_id = ${destinationId} and number = ${number} and until is null`.execute(db);
}

/** The files of the batch in progress; `rowCount` is null until they are in the bucket. */
export async function listBatchFiles(
  db: Db,
  destinationId: string,
): Promise<{ key: string; rowCount: number | null; sizeBytes: number | null }[]> {
  const { rows } = await sql<{ key: string; rowCount: number | null; sizeBytes: number | null }>`
    select key, row_count as "rowCount", size_bytes as "sizeBytes" from export_destination_file
    where destination_id = ${destinationId} order by key`.execute(db);
  return rows;
}

/**
 * Records a file of a batch: before the upload without its size, and again after it.
 *
 * @returns false if the batch has ended, or something was erased since it began
 */
export async function saveBatchFile(
  db: Db,
  { destinationId, number, revision }: PushBatch,
  file: { key: string; rowCount: number | null; sizeBytes: number | null },
): Promise<boolean> {
  const { rows } = await sql`
    insert into export_destination_file (destination_id, key, row_count, size_bytes)
    select destination_id, ${file.key}, ${file.rowCount}::bigint, ${file.sizeBytes}::bigint
    from export_destination
    where destination_id = ${destinationId} and number = ${number} and revision = ${revision}
    for share
    on conflict (destination_id, key)
      do update set row_count = excluded.row_count, size_bytes = excluded.size_bytes
    returning key`.execute(db);
  return rows.length > 0;
}

/**
 * Ends a batch: the next one begins where it ended. The number of a batch without files is reused.
 *
 * @returns false if it has already ended, or something was erased since it began
 */
export async function endBatch(
  tx: Tx,
  { destinationId, number, revision }: PushBatch,
  { files, rowCount }: { files: number; rowCount: number },
): Promise<boolean> {
  const { rows } = await sql`
    update export_destination set position = until, until = null,
      number = number + ${files > 0 ? 1 : 0}, pushed_rows = pushed_rows + ${rowCount},
      pushed_at = now(), last_error = null,
      next_at = (date_trunc(every, now() at time zone time_zone) + ('1 ' || every)::interval)
        at time zone time_zone + interval '5 minutes'
    where destination_id = ${destinationId} and number = ${number} and revision = ${revision}
      and until is not null
    returning destination_id`.execute(tx);
  await sql`
    delete from export_destination_file
    where destination_id = ${destinationId} and ${rows.length > 0}`.execute(tx);
  return rows.length > 0;
}

export async function noteDestinationFailure(
  db: Db,
  destinationId: string,
  message: string,
): Promise<void> {
  await sql`
    update export_destination set last_error = ${message}
    where destination_id = ${destinationId}`.execute(db);
}

/** Schedules a retry in an hour. */
export async function postpone(tx: Tx, destinationId: string): Promise<void> {
  await sql`
    update export_destination set next_at = now() + interval '1 hour'
    where destination_id = ${destinationId}`.execute(tx);
}

/** Restarts the batches in progress, because they may contain erased data. */
export async function restartBatches(tx: Tx, organizationId: string): Promise<void> {
  await sql`
    with restarted as (
      update export_destination set revision = revision + 1
      where organization_id = ${organizationId} and until is not null returning destination_id)
    update export_destination_file file set row_count = null, size_bytes = null
    from restarted where file.destination_id = restarted.destination_id`.execute(tx);
}
