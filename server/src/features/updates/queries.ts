import { sql } from 'kysely';
import type { Db } from '../../platform/database/database.ts';
import type { Release } from './release.ts';

/**
 * Starts a check, so that all processes and restarts together check once per `hours`. The last
 * result for the same URL is kept until something newer is found.
 * @returns false if it is not time yet
 */
export async function beginLook(db: Db, url: string, hours: number): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    insert into update_check as known (url, checked_at) values (${url}, now())
    on conflict (only_one) do update set
      url = excluded.url,
      checked_at = excluded.checked_at,
      found_version = case when known.url = excluded.url then known.found_version end,
      notes_url = case when known.url = excluded.url then known.notes_url end
    where known.url <> excluded.url
      or known.checked_at <= now() - make_interval(hours => ${hours}::int)`.execute(db);
  return numAffectedRows > 0n;
}

export async function keepRelease(
  db: Db,
  url: string,
  { version, notesUrl }: Release,
): Promise<void> {
  await sql`
    update update_check set found_version = ${version}, notes_url = ${notesUrl}
    where url = ${url}`.execute(db);
}

/** The newest version found at this URL, or null. */
export async function findRelease(db: Db, url: string): Promise<Release | null> {
  const { rows } = await sql<{ version: string | null; notesUrl: string | null }>`
    select found_version as version, notes_url as "notesUrl"
    from update_check where url = ${url}`.execute(db);
  const [row] = rows;
  return row === undefined || row.version === null
    ? null
    : { version: row.version, notesUrl: row.notesUrl };
}
