import type { EntryList, EntryWalk } from '../items/entry-list.ts';
import type { FeedEntry, OrderPlace } from '../items/feed-entry.ts';
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

export function hasNoFilter({ tags, section, author, contentType }: FeedFilter): boolean {
  return tags === null && section === null && author === null && contentType === null;
}

export function matches(entry: FeedEntry, filter: FeedFilter): boolean {
  return (
    (filter.tags === null || filter.tags.some((tag) => entry.tags.includes(tag))) &&
    (filter.section === null || entry.section === filter.section) &&
    (filter.author === null || entry.author === filter.author) &&
    (filter.contentType === null || entry.contentType === filter.contentType)
  );
}

/**
 * Visits all entries that can match, newest first, until `visit` returns false. Walks the shortest
 * list that the filter permits and may visit entries that do not match; with several tags, an entry
 * may be visited more than once. With `after`, starts after that place in the order.
 */
export function visitNewest(
  index: OrganizationIndex,
  filter: FeedFilter,
  visit: (entry: FeedEntry) => boolean,
  after: OrderPlace | null = null,
): void {
  const walks = shortestLists(index, filter).map((list) =>
    after === null ? list[Symbol.iterator]() : list.walkFrom(after),
  );
  const [only] = walks;
  if (walks.length === 1 && only !== undefined) visitList(only, visit);
  else visitMerged(walks, visit);
}

function visitList(walk: EntryWalk, visit: (entry: FeedEntry) => boolean): void {
  for (let entry = walk.step(); entry !== undefined; entry = walk.step()) if (!visit(entry)) return;
}

/** Merges walks: repeatedly visits the newest of their next entries. */
function visitMerged(walks: readonly EntryWalk[], visit: (entry: FeedEntry) => boolean): void {
  const heads = walks.map((walk) => walk.step());
  for (;;) {
    let next: FeedEntry | undefined;
    let from = -1;
    for (const [at, head] of heads.entries()) {
      if (head === undefined) continue;
      if (next === undefined || byFreshness(head, next) < 0) {
        next = head;
        from = at;
      }
    }
    if (next === undefined || !visit(next)) return;
    heads[from] = walks[from]?.step();
  }
}

function shortestLists(
  index: OrganizationIndex,
  { tags, section, author, contentType }: FeedFilter,
): EntryList[] {
  const choices: EntryList[][] = [[index.newestFirst]];
  if (tags !== null) choices.push(tags.map((tag) => index.list('tag', tag)));
  if (section !== null) choices.push([index.list('section', section)]);
  if (author !== null) choices.push([index.list('author', author)]);
  if (contentType !== null) choices.push([index.list('type', contentType)]);
  const lengthOf = (lists: readonly EntryList[]) =>
    lists.reduce((sum, { length }) => sum + length, 0);
  return choices.reduce((best, lists) => (lengthOf(lists) < lengthOf(best) ? lists : best));
}
