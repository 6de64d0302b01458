import { sql } from 'kysely';
import { contentItems } from '../../content/content.ts';
import { organizationRows } from '../../organizations/organizations.ts';
import { inTransaction, type Db, type Tx } from '../../../platform/database/database.ts';
import { projectionRows } from '../../../platform/projections/queries.ts';

export type DueFit = {
  readonly organizationId: string;
  readonly version: number;
  /** Null if the model may miss some activity, so that it is due again. */
  readonly watchedUntil: Date | null;
};

/** Fits take at most 1/n of the time, where n is this number. */
const restShare = 20;

/**
 * The organizations whose model is due: it is older than `intervalMs` and than twenty times the
 * duration of the last fit, and there was activity since; or it is a day old, or a viewer was
 * erased. While the partitions of the viewers' projection are at different positions, the newest
 * activity is not reliable.
 */
export async function selectDueFits(db: Db, intervalMs: number): Promise<DueFit[]> {
  const { rows } = await sql<DueFit>`
    select organization.organization_id as "organizationId", coalesce(version, 0) as version,
      case when progress.is_even then coalesce(newest.last_at, model.watched_until, 'epoch') end
        as "watchedUntil"
    from ${organizationRows} organization
    left join taste_model model on model.organization_id = organization.organization_id
    left join lateral (
      select last_at from feed_viewer
      where feed_viewer.organization_id = organization.organization_id
      order by last_at desc limit 1) newest on true
    cross join (
      select count(distinct received_at) <= 1 as is_even from ${projectionRows} projection
      where name = 'feed-viewers') progress
    where coalesce(is_stale, false)
      or (newest.last_at > coalesce(watched_until, '-infinity')
        and coalesce(fitted_at, '-infinity') < clock_timestamp()
          - greatest(${intervalMs}::float8, coalesce(fit_ms, 0) * ${restShare}::int)
          * interval '1 millisecond')
      or fitted_at < clock_timestamp() - interval '1 day'
    order by fitted_at nulls first`.execute(db);
  return rows;
}

export type Watcher = { lastAt: Date; key: Buffer; bytes: Buffer };

/** The encounters of an organization's viewers, most recently active first. */
export async function readWatchers(
  db: Db,
  organizationId: string,
  after: { lastAt: Date; key: Buffer } | null,
  limit: number,
): Promise<Watcher[]> {
  const behind =
    after === null ? sql`true` : sql`(last_at, viewer_key) < (${after.lastAt}, ${after.key})`;
  const { rows } = await sql<Watcher>`
    select last_at as "lastAt", viewer_key as key, folded || recent as bytes from feed_viewer
    where organization_id = ${organizationId} and ${behind}
    order by last_at desc, viewer_key desc limit ${limit}`.execute(db);
  return rows;
}

export type Fit = {
  readonly parts: readonly Uint8Array[];
  readonly mean: number;
  readonly spread: number;
  readonly viewers: number;
  readonly watches: number;
  readonly fitMs: number;
};

/** Replaces a model. @returns false if it has changed since the fit began, such as by an erasure */
export async function storeFit(
  db: Db,
  { organizationId, version, watchedUntil }: DueFit,
  fit: Fit,
): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    await sql`
      insert into taste_model (organization_id) values (${organizationId})
      on conflict do nothing`.execute(tx);
    const { numAffectedRows = 0n } = await sql`
      update taste_model set version = version + 1, fitted_at = clock_timestamp(),
        fit_ms = ${fit.fitMs}::int,
        watched_until = coalesce(${watchedUntil}::timestamptz, '-infinity'), is_stale = false,
        viewers = ${fit.viewers}::int, watches = ${fit.watches}::int,
        mean = ${fit.mean}::float8, spread = ${fit.spread}::float8
      where organization_id = ${organizationId} and version = ${version}::bigint`.execute(tx);
    if (numAffectedRows === 0n) return false;
    await sql`delete from taste_part where organization_id = ${organizationId}`.execute(tx);
    for (const [part, bytes] of fit.parts.entries()) {
      await sql`
        insert into taste_part (organization_id, part, bytes)
        values (${organizationId}, ${part}::int, ${Buffer.from(bytes)})`.execute(tx);
    }
    return true;
  });
}

/**
 * Marks a model for an immediate new fit, because it must not retain what it learned from an erased
 * viewer.
 */
export async function markStale(tx: Tx, organizationId: string): Promise<void> {
  await sql`
    insert into taste_model as known (organization_id, version, is_stale)
    values (${organizationId}, 1, true)
    on conflict (organization_id) do update set is_stale = true, version = known.version + 1
    `.execute(tx);
}

export async function selectVersions(
  db: Db,
  organizationIds: readonly string[],
): Promise<{ organizationId: string; version: number }[]> {
  const { rows } = await sql<{ organizationId: string; version: number }>`
    select organization_id as "organizationId", version from taste_model
    where organization_id = any(${organizationIds}::text[])`.execute(db);
  return rows;
}

export type StoredModel = { version: number; mean: number; spread: number; bytes: Buffer | null };

/** A consistent snapshot of a model and its parts, or null if there is none. */
export async function selectModel(db: Db, organizationId: string): Promise<StoredModel[]> {
  const { rows } = await sql<StoredModel>`
    select version, mean, spread, bytes from taste_model
    left join taste_part using (organization_id)
    where organization_id = ${organizationId} order by part`.execute(db);
  return rows;
}

/** Locks a model to change its parts, and increments its version. @returns its parts */
export async function lockParts(
  tx: Tx,
  organizationId: string,
): Promise<{ part: number; bytes: Buffer }[]> {
  await sql`
    insert into taste_model as known (organization_id, version) values (${organizationId}, 1)
    on conflict (organization_id) do update set version = known.version + 1`.execute(tx);
  const { rows } = await sql<{ part: number; bytes: Buffer }>`
    select part, bytes from taste_part where organization_id = ${organizationId}
    order by part`.execute(tx);
  return rows;
}

export async function replacePart(
  tx: Tx,
  organizationId: string,
  part: number,
  bytes: Buffer,
): Promise<void> {
  await sql`
    update taste_part set bytes = ${bytes}
    where organization_id = ${organizationId} and part = ${part}::int`.execute(tx);
}

/** The serial number of an item, or null if it does not exist. */
export async function selectSerialNumber(
  db: Db,
  organizationId: string,
  contentId: string,
): Promise<number | null> {
  const { rows } = await sql<{ serialNumber: number }>`
    select serial_number as "serialNumber" from ${contentItems} item
    where organization_id = ${organizationId} and content_id = ${contentId}::uuid`.execute(db);
  return rows[0]?.serialNumber ?? null;
}
