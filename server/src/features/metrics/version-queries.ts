import { sql, type RawBuilder } from 'kysely';
import { bytesArray, textArray, timestampArray } from '../../platform/database/binary-arrays.ts';
import type { Tx } from '../../platform/database/database.ts';

export type SeenVersion = {
  readonly organizationId: string;
  readonly viewerKey: Buffer;
  readonly version: string;
  readonly atMs: number;
};

const keepEarlier = sql`on conflict (viewer_key, version) do update
  set first_at = excluded.first_at where excluded.first_at < known.first_at`;

/** Keeps the earliest time. Each viewer and version may be given only once. */
export async function upsertVersions(tx: Tx, seen: readonly SeenVersion[]): Promise<void> {
  if (seen.length === 0) return;
  await sql`
    insert into viewer_version as known (viewer_key, version, organization_id, first_at)
    select * from unnest(
      ${bytesArray(seen.map(({ viewerKey }) => viewerKey))}::bytea[],
      ${textArray(seen.map(({ version }) => version))}::text[],
      ${textArray(seen.map(({ organizationId }) => organizationId))}::text[],
      ${timestampArray(seen.map(({ atMs }) => atMs))}::timestamptz[])
    ${keepEarlier}`.execute(tx);
}

export async function deleteVersionsOf(tx: Tx, viewerKeys: readonly Buffer[]): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from viewer_version where viewer_key = any(${viewerKeys}::bytea[])`.execute(tx);
  return Number(numAffectedRows);
}

export async function renameVersion(
  tx: Tx,
  organizationId: string,
  { before, after }: { before: string; after: string },
): Promise<void> {
  await sql`
    with renamed as (
      delete from viewer_version
      where organization_id = ${organizationId} and version = ${before}
      returning viewer_key, organization_id, first_at
    )
    insert into viewer_version as known (viewer_key, version, organization_id, first_at)
    select viewer_key, ${after}, organization_id, first_at from renamed
    ${keepEarlier}`.execute(tx);
}

export async function deleteOldVersions(tx: Tx, keptDays: number, limit: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from viewer_version where ctid = any(array(
      select ctid from viewer_version
      where first_at < now() - make_interval(days => ${keptDays}::int) limit ${limit}))`.execute(
    tx,
  );
  return Number(numAffectedRows);
}

/** Copies rows from before the first day of the log. */
export async function keepOldVersions(tx: Tx, schema: string, firstDayMs: number): Promise<void> {
  if (!Number.isFinite(firstDayMs)) return;
  await sql`
    insert into ${sql.id(schema, 'viewer_version')} as known
      (viewer_key, version, organization_id, first_at)
    select viewer_key, version, organization_id, first_at from viewer_version
    where first_at < (${timestampArray([firstDayMs])}::timestamptz[])[1]
    ${keepEarlier}`.execute(tx);
}

/**
 * The version that a viewer used at a given time, as an SQL expression: the latest one seen by
 * then, otherwise the first one after it, or null if none was reported.
 */
export function versionAt(viewerKey: RawBuilder<unknown>, at: RawBuilder<unknown>) {
  return sql<string | null>`(
    select seen.version from viewer_version seen where seen.viewer_key = ${viewerKey}
    order by seen.first_at > ${at}, abs(extract(epoch from seen.first_at - ${at})), seen.version
    limit 1)`;
}
