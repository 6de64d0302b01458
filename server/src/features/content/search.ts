/** Searching titles and descriptions by the beginnings of words. */
import { sql, type RawBuilder } from 'kysely';

/**
 * True for items that hold every word of the search, each as the beginning of a word, and runs of
 * Chinese and Japanese signs anywhere. Both sides go through `content_search_fold` of the database, so
 * accents and signs between words do not matter.
 */
export function searchCondition(search: string): RawBuilder<boolean> {
  return sql<boolean>`search_text @@ (select content_search_query(${search}::text))`;
}
