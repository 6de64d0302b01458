/** Keyset paging: a page starts behind the last row of the page before, wherever that lies. */
import { sql, type RawBuilder } from 'kysely';

/** The last row of a page in a list that is ordered by a moment and an id, newest first. */
export type KeysetPosition = {
  /** The moment as PostgreSQL writes it, to the microsecond. */
  readonly at: string;
  readonly id: string;
};

export type KeysetPage = { readonly limit: number; readonly after: KeysetPosition | null };

/**
 * The condition that a row comes behind `after`, newest first; true for the first page.
 *
 * @param time the column of the moment
 * @param id the column that tells rows of one moment apart
 */
export function isBehind(
  time: string,
  id: string,
  after: KeysetPosition | null,
): RawBuilder<boolean> {
  if (after === null) return sql<boolean>`true`;
  return sql<boolean>`(${sql.ref(time)}, ${sql.ref(id)}) < (${after.at}::timestamptz, ${after.id})`;
}
