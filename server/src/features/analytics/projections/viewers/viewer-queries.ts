/** The SQL of the projection `viewers`. */
import { sql } from 'kysely';
import {
  bytesArray,
  textArray,
  timestampArray,
  uuidArray,
} from '../../../../platform/database/binary-arrays.ts';
import type { Db, Tx } from '../../../../platform/database/database.ts';
import type { Hash } from '../../statistics/viewer-key.ts';
import { viewerKeys } from '../../statistics/viewer-keys.ts';
import { contentItems } from '../../../content/content.ts';

export type ViewerEncounters = {
  key: Hash;
  organizationId: string;
  lastSecond: number;
  bytes: Buffer;
};

/** Beyond this, `recent` no longer lies in the row itself. */
const mostRecentBytes = 1_400;

/** Adds encounters behind what is stored. @returns the viewers whose encounters are to be folded */
export async function appendEncounters(
  tx: Tx,
  viewers: readonly ViewerEncounters[],
): Promise<Hash[]> {
  if (viewers.length === 0) return [];
  const sorted = viewers.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const { rows } = await sql<{ grown: Buffer }>`
    with added as (
      insert into viewer_profile as known (viewer_key, organization_id, last_at, recent)
      select * from unnest(${viewerKeys(sorted.map(({ key }) => key))}::bytea[],
        ${textArray(sorted.map(({ organizationId }) => organizationId))}::text[],
        ${timestampArray(sorted.map(({ lastSecond }) => lastSecond * 1_000))}::timestamptz[],
        ${bytesArray(sorted.map(({ bytes }) => bytes))}::bytea[])
      on conflict (viewer_key) do update set
        last_at = greatest(known.last_at, excluded.last_at),
        recent = known.recent || excluded.recent
      returning viewer_key, recent
    )
    select viewer_key as grown from added where octet_length(recent) > ${mostRecentBytes}::int
  `.execute(tx);
  return rows.map(({ grown }) => grown.toString('latin1'));
}

/** All encounters of viewers. */
export async function selectProfiles(
  tx: Tx,
  keys: readonly Hash[],
): Promise<{ key: Hash; bytes: Buffer }[]> {
  const { rows } = await sql<{ viewer_key: Buffer; bytes: Buffer }>`
    select found.viewer_key, found.folded || found.recent as bytes
    from unnest(${viewerKeys(keys)}::bytea[]) as wanted (viewer_key)
    join viewer_profile found on found.viewer_key = wanted.viewer_key
  `.execute(tx);
  return rows.map((row) => ({ key: row.viewer_key.toString('latin1'), bytes: row.bytes }));
}

/** Stores encounters that were folded together. */
export async function foldProfiles(
  tx: Tx,
  viewers: readonly { key: Hash; bytes: Buffer }[],
): Promise<void> {
  await sql`
    update viewer_profile set folded = given.bytes, recent = ''
    from unnest(${viewerKeys(viewers.map(({ key }) => key))}::bytea[],
      ${bytesArray(viewers.map(({ bytes }) => bytes))}::bytea[]) as given (viewer_key, bytes)
    where viewer_profile.viewer_key = given.viewer_key
  `.execute(tx);
}

/** All encounters of one viewer; null when there are none. */
export async function selectEncounters(db: Db, key: Buffer): Promise<Buffer | null> {
  const { rows } = await sql<{ bytes: Buffer }>`
    select folded || recent as bytes from viewer_profile where viewer_key = ${key}`.execute(db);
  return rows[0]?.bytes ?? null;
}

/** What an item is about. */
export type Traits = { contentId: string; tags: string[]; author: string | null };

export async function selectTraits(
  db: Db,
  organizationId: string,
  contentIds: readonly string[],
): Promise<Traits[]> {
  const { rows } = await sql<Traits>`
    select content_id as "contentId", tags, author from ${contentItems} item
    where organization_id = ${organizationId}
      and content_id = any(${uuidArray(contentIds)}::uuid[])
  `.execute(db);
  return rows;
}

/** Removes profiles that have not changed for long. @returns how many, at most `limit` */
export async function deleteOldProfiles(tx: Tx, days: number, limit: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from viewer_profile where viewer_key = any(array(
      select viewer_key from viewer_profile
      where last_at < now() - make_interval(days => ${days}::int) limit ${limit}))
  `.execute(tx);
  return Number(numAffectedRows);
}
