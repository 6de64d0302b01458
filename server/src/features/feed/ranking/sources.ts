/**
 * Candidate sources. Each takes up to `wanted` entries in its own order of preference. Together
 * they form a shortlist of fixed size, so that the cost of a page does not depend on the number of
 * items.
 */
import type { FeedEntry } from '../items/feed-entry.ts';
import { bestOfTaste } from '../taste/candidates.ts';
import { tasteOf } from '../taste/viewer-taste.ts';
import type { Choice } from './choice.ts';
import { matchesRule } from './editorial.ts';
import { isInIndex } from './exploration.ts';
import { visitNewest } from './filter.ts';

type Source = (choice: Choice, wanted: number) => FeedEntry[];

/** Number of candidates for one page. */
export const shortlistSize = 150;
/** Maximum number of entries examined in the list of one tag or author. */
const maxLookedAt = 300;

const editorial: Source = (choice, wanted) => {
  const { index, rules } = choice.parts;
  const found: FeedEntry[] = [];
  for (const match of rules.boosted) {
    const { contentId, tags, author, section } = match;
    const entry = contentId === undefined ? undefined : index.findById(contentId);
    const lists =
      contentId !== undefined
        ? [entry === undefined ? [] : [entry]]
        : author !== undefined
          ? [index.list('author', author)]
          : section !== undefined
            ? [index.list('section', section)]
            : (tags ?? []).map((tag) => index.list('tag', tag));
    for (const list of lists) {
      take(choice, list, wanted - found.length, found, (one) => matchesRule(one, match));
    }
  }
  return found;
};

const byTopic: Source = (choice, wanted) => {
  const { index, viewer, nowMs } = choice.parts;
  const { tags } = viewer.favourites;
  const found: FeedEntry[] = [];
  const each = Math.ceil(wanted / Math.max(1, tags.length));
  for (const tag of tags) {
    const half = Math.ceil(each / 2);
    take(choice, index.bestOfTag(tag, nowMs), half, found, (entry) => isInIndex(choice, entry));
    take(choice, index.list('tag', tag), each - half, found);
  }
  return found;
};

const byCreator: Source = (choice, wanted) => {
  const { index, viewer } = choice.parts;
  const { authors } = viewer.favourites;
  const found: FeedEntry[] = [];
  const each = Math.ceil(wanted / Math.max(1, authors.length));
  for (const author of authors) take(choice, index.list('author', author), each, found);
  return found;
};

const byTaste: Source = (choice, wanted) => {
  const { index, viewer } = choice.parts;
  const taste = tasteOf(viewer, index.vectors);
  const found: FeedEntry[] = [];
  if (taste === null) return found;
  take(choice, bestOfTaste(taste, index), wanted, found, (entry) => isInIndex(choice, entry));
  return found;
};

const popular: Source = (choice, wanted) => {
  const found: FeedEntry[] = [];
  const list = choice.parts.index.statistics.popular;
  take(choice, list, wanted, found, (entry) => isInIndex(choice, entry));
  return found;
};

/** All items, newest first: the only source that never misses an item. */
const fresh: Source = (choice, wanted) => {
  const { index, filter } = choice.parts;
  const found: FeedEntry[] = [];
  if (wanted <= 0) return found;
  visitNewest(index, filter, (entry) => {
    if (choice.take(entry)) found.push(entry);
    return found.length < wanted;
  });
  return found;
};

type NamedSource = { readonly name: string; readonly source: Source; readonly share: number };

/** In the order in which they take; the last one fills the remaining places. */
const sources: readonly NamedSource[] = [
  { name: 'editorial', source: editorial, share: 0.1 },
  { name: 'byTopic', source: byTopic, share: 0.3 },
  { name: 'byTaste', source: byTaste, share: 0.2 },
  { name: 'byCreator', source: byCreator, share: 0.1 },
  { name: 'popular', source: popular, share: 0.2 },
  { name: 'fresh', source: fresh, share: 1 },
];

/** The candidates of a page: all may be shown, and none was seen or taken before. */
export function shortlist(choice: Choice): FeedEntry[] {
  const found: FeedEntry[] = [];
  for (const { source, share } of sources) {
    const wanted = Math.min(shortlistSize - found.length, Math.ceil(shortlistSize * share));
    for (const entry of source(choice, wanted)) found.push(entry);
  }
  return found;
}

function take(
  choice: Choice,
  list: Iterable<FeedEntry>,
  wanted: number,
  found: FeedEntry[],
  fits: (entry: FeedEntry) => boolean = () => true,
): void {
  const end = found.length + wanted;
  let looked = 0;
  for (const entry of list) {
    if (looked >= maxLookedAt || found.length >= end) return;
    looked += 1;
    if (fits(entry) && choice.take(entry)) found.push(entry);
  }
}
