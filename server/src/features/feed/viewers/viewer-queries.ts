import { sql } from 'kysely';
import { bytesArray, textArray, timestampArray } from '../../../platform/database/binary-arrays.ts';
import type { Db, Tx } from '../../../platform/database/database.ts';
import type { LogPosition } from '../../../platform/event-log/event-log.ts';
import { projectionRows } from '../../../platform/projections/queries.ts';
import { contentItems } from '../../content/content.ts';
import { viewerKeys, type Hash } from '../../analytics/analytics.ts';

export type AddedEncounters = {
  key: Hash;
  organizationId: string;
  lastSecond: number;
  bytes: Buffer;
};

/** Above this size, PostgreSQL stores `recent` outside the row. */
const maxRecentBytes = 1_400;

/** Appends encounters to the stored ones. @returns the viewers whose encounters should be folded */
export async function appendEncounters(
  tx: Tx,
  viewers: readonly AddedEncounters[],
): Promise<Hash[]> {
  if (viewers.length === 0) return [];
  // Sorted, so that transactions writing the same viewers cannot deadlock.
  const sorted = viewers.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const { rows } = await sql<{ grown: Buffer }>`
    with added as (
      insert into feed_viewer as known (viewer_key, organization_id, last_at, recent)
      select * from unnest(${viewerKeys(sorted.map(({ key }) => key))}::bytea[],
        ${textArray(sorted.map(({ organizationId }) => organizationId))}::text[],
        ${timestampArray(sorted.map(({ lastSecond }) => lastSecond * 1_000))}::timestamptz[],
        ${bytesArray(sorted.map(({ bytes }) => bytes))}::bytea[])
      on conflict (viewer_key) do update set
        last_at = greatest(known.last_at, excluded.last_at),
        recent = known.recent || excluded.recent
      returning viewer_key, recent
    )
    select viewer_key as grown from added where octet_length(recent) > ${maxRecentBytes}::int
  `.execute(tx);
  return rows.map(({ grown }) => grown.toString('latin1'));
}

export async function selectGrown(
  tx: Tx,
  keys: readonly Hash[],
): Promise<{ key: Hash; bytes: Buffer }[]> {
  const { rows } = await sql<{ viewer_key: Buffer; bytes: Buffer }>`
    select found.viewer_key, found.folded || found.recent as bytes
    from unnest(${viewerKeys(keys)}::bytea[]) as wanted (viewer_key)
    join feed_viewer found on found.viewer_key = wanted.viewer_key
  `.execute(tx);
  return rows.map((row) => ({ key: row.viewer_key.toString('latin1'), bytes: row.bytes }));
}

/** The encounters of all viewers after a key, in key order, locked until the transaction ends. */
export async function lockViewers(
  tx: Tx,
  organizationIds: readonly string[],
  { behind, limit }: { behind: Buffer; limit: number },
): Promise<{ key: Buffer; bytes: Buffer }[]> {
  const { rows } = await sql<{ key: Buffer; bytes: Buffer }>`
    select viewer_key as key, folded || recent as bytes from feed_viewer
    where viewer_key > ${behind} and organization_id = any(${organizationIds}::text[])
    order by viewer_key limit ${limit} for update
  `.execute(tx);
  return rows;
}

/** Unfolded encounters of idle viewers, locked until the transaction ends. */
export async function lockUnfolded(
  tx: Tx,
  restMinutes: number,
  limit: number,
): Promise<{ key: Hash; bytes: Buffer }[]> {
  const { rows } = await sql<{ key: Buffer; bytes: Buffer }>`
    select viewer_key as key, folded || recent as bytes from feed_viewer
    where recent <> '' and last_at <= now() - make_interval(mins => ${restMinutes}::int)
    order by viewer_key limit ${limit} for update skip locked
  `.execute(tx);
  return rows.map(({ key, bytes }) => ({ key: key.toString('latin1'), bytes }));
}

/** Stores merged encounters. */
export async function foldEncounters(
  tx: Tx,
  viewers: readonly { key: Hash; bytes: Buffer }[],
): Promise<void> {
  await sql`
    update feed_viewer set folded = given.bytes, recent = ''
    from unnest(${viewerKeys(viewers.map(({ key }) => key))}::bytea[],
      ${bytesArray(viewers.map(({ bytes }) => bytes))}::bytea[]) as given (viewer_key, bytes)
    where feed_viewer.viewer_key = given.viewer_key
  `.execute(tx);
}

/** All encounters of viewers, concatenated. */
export async function selectEncounters(db: Db, keys: readonly Buffer[]): Promise<Buffer> {
  const { rows } = await sql<{ bytes: Buffer }>`
    select folded || recent as bytes from feed_viewer
    where viewer_key = any(${keys}::bytea[])`.execute(db);
  return Buffer.concat(rows.map(({ bytes }) => bytes));
}

/** The traits of items that are not in the index, such as expired ones. */
export type Traits = { serialNumber: number; tags: string[]; author: string | null };

export async function selectTraits(
  db: Db,
  organizationId: string,
  serialNumbers: readonly number[],
): Promise<Traits[]> {
  const { rows } = await sql<Traits>`
    select serial_number as "serialNumber", tags, author from ${contentItems} item
    where organization_id = ${organizationId} and serial_number = any(${serialNumbers}::bigint[])
  `.execute(db);
  return rows;
}

/** Deletes viewers who have been inactive for long. @returns the number of rows, at most `limit` */
export async function deleteFormerViewers(tx: Tx, days: number, limit: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from feed_viewer where viewer_key = any(array(
      select viewer_key from feed_viewer
      where last_at < now() - make_interval(days => ${days}::int) limit ${limit}))
  `.execute(tx);
  return Number(numAffectedRows);
}

/** Deletes all encounters of one viewer. @returns the number of deleted rows */
export async function deleteViewer(tx: Tx, key: Buffer): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from feed_viewer where viewer_key = ${key}`.execute(tx);
  return Number(numAffectedRows);
}

type Progress = {
  /** Null if its partitions are at different positions. */
  position: LogPosition | null;
  /** When the newest event written by every partition was received. */
  receivedAtMs: number;
  behindMs: number;
};

/** The position of the slowest partition of the projection, or null before its first pass. */
export async function readViewerProgress(db: Db): Promise<Progress | null> {
  const { rows } = await sql<Progress>`
    select case when count(distinct position) = 1 then min(position::text)::json end as position,
      (extract(epoch from min(received_at)) * 1000)::float8 as "receivedAtMs",
      (extract(epoch from clock_timestamp() - min(received_at)) * 1000)::float8 as "behindMs"
    from ${projectionRows} projection where name = 'feed-viewers'
    having count(*) > 0 and bool_and(received_at is not null)`.execute(db);
  return rows[0] ?? null;
}
