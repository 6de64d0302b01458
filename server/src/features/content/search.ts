/** Searching titles and descriptions by the beginnings of words. */
import { sql, type RawBuilder } from 'kysely';

/** True for items that hold every word of the search, each as the beginning of a word. */
export function searchCondition(search: string): RawBuilder<boolean> {
  // PostgreSQL keeps 2.0 or example.com as one word, which is found whole.
  return sql<boolean>`search_text @@ (to_tsquery('simple', ${prefixQuery(search)})
    || plainto_tsquery('simple', ${search}))`;
}

/** `big cat` becomes `'big':* & 'cat':*`; quotes and backslashes of the words are text. */
function prefixQuery(search: string): string {
  return search
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .map((word) => `'${word}':*`)
    .join(' & ');
}
