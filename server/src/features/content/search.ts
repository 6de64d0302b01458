/** Prefix search in titles and descriptions. */
import { sql, type RawBuilder } from 'kysely';

/**
 * True for items that contain every word of the search, each as a word prefix; sequences of Chinese
 * and Japanese characters match anywhere. Both sides go through the database's
 * `content_search_fold`, so accents and punctuation do not matter.
 */
export function searchCondition(search: string): RawBuilder<boolean> {
  return sql<boolean>`search_text @@ (select content_search_query(${search}::text))`;
}
