/**
 * Keyset pagination: a page starts after the last row of the previous page, wherever that row is
 * now.
 */
import { sql, type RawBuilder } from 'kysely';

/** The last row of a page of a list that is ordered by time and id, newest first. */
export type KeysetPosition = {
  /** The timestamp in PostgreSQL's text format, with microseconds. */
  readonly at: string;
  readonly id: string;
};

export type KeysetPage = { readonly limit: number; readonly after: KeysetPosition | null };

/**
 * The condition that a row comes after `after` in the list, newest first; true for the first page.
 *
 * @param time the timestamp column
 * @param id the column that distinguishes rows with the same timestamp
 */
export function isBehind(
  time: string,
  id: string,
  after: KeysetPosition | null,
): RawBuilder<boolean> {
  if (after === null) return sql<boolean>`true`;
  return sql<boolean>`(${sql.ref(time)}, ${sql.ref(id)}) < (${after.at}::timestamptz, ${after.id})`;
}
