import type { FeedEntry } from '../items/feed-entry.ts';
import type { OrganizationIndex } from '../items/organization-index.ts';
import { byFreshness } from '../items/feed-entry.ts';

/** The filters of a feed request. */
export type FeedFilter = {
  tags: readonly string[] | null;
  section: string | null;
  author: string | null;
  contentType: string | null;
};

export const noFilter: FeedFilter = { tags: null, section: null, author: null, contentType: null };

export function matches(entry: FeedEntry, filter: FeedFilter): boolean {
  return (
    (filter.tags === null || filter.tags.some((tag) => entry.tags.includes(tag))) &&
    (filter.section === null || entry.section === filter.section) &&
    (filter.author === null || entry.author === filter.author) &&
    (filter.contentType === null || entry.contentType === filter.contentType)
  );
}

/**
 * Visits all entries that can match, newest first, until `visit` returns false. It walks the shortest
 * of the lists that the filter names, and may visit entries that do not match; with several tags, an
 * entry may be visited more than once.
 */
export function visitNewest(
  index: OrganizationIndex,
  filter: FeedFilter,
  visit: (entry: FeedEntry) => boolean,
): void {
  const lists = shortestLists(index, filter);
  const places = lists.map(() => 0);
  for (;;) {
    let next: FeedEntry | undefined;
    let from = -1;
    for (let at = 0; at < lists.length; at += 1) {
      const entry = lists[at]?.[places[at] ?? 0];
      if (entry === undefined) continue;
      if (next === undefined || byFreshness(entry, next) < 0) {
        next = entry;
        from = at;
      }
    }
    if (next === undefined || !visit(next)) return;
    places[from] = (places[from] ?? 0) + 1;
  }
}

function shortestLists(
  index: OrganizationIndex,
  { tags, section, author, contentType }: FeedFilter,
): (readonly FeedEntry[])[] {
  const choices: (readonly FeedEntry[])[][] = [[index.newestFirst]];
  if (tags !== null) choices.push(tags.map((tag) => index.list('tag', tag)));
  if (section !== null) choices.push([index.list('section', section)]);
  if (author !== null) choices.push([index.list('author', author)]);
  if (contentType !== null) choices.push([index.list('type', contentType)]);
  const lengthOf = (lists: readonly (readonly FeedEntry[])[]) =>
    lists.reduce((sum, { length }) => sum + length, 0);
  return choices.reduce((best, lists) => (lengthOf(lists) < lengthOf(best) ? lists : best));
}
