/**
 * A feed page is made in five stages: skeleton → rank → rules → hydrate → present. The first three
 * choose and order on entries in memory and are pure; `feed.ts` strings them together with the two
 * that follow.
 */
import { isDue, type FeedEntry } from './feed-entry.ts';
import type { FeedView } from './feed-index.ts';

/** What a viewer asked the feed to hold. */
export type FeedFilter = {
  tags: readonly string[] | null;
  section: string | null;
  author: string | null;
  contentType: string | null;
};

export type RankedEntry = { entry: FeedEntry; score: number; signals: { recency: number } };

/** Candidates: due, matching, and none of `taken`; newest first, at most `limit`. */
export function skeleton(
  { index, nowMs }: FeedView,
  filter: FeedFilter,
  taken: ReadonlySet<number>,
  limit: number,
): FeedEntry[] {
  const candidates: FeedEntry[] = [];
  for (const entry of index.newestFirst) {
    if (candidates.length >= limit) break;
    if (isDue(entry, nowMs) && !taken.has(entry.serialNumber) && matches(entry, filter)) {
      candidates.push(entry);
    }
  }
  return candidates;
}

function matches(entry: FeedEntry, filter: FeedFilter): boolean {
  return (
    (filter.tags === null || filter.tags.some((tag) => entry.tags.includes(tag))) &&
    (filter.section === null || entry.section === filter.section) &&
    (filter.author === null || entry.author === filter.author) &&
    (filter.contentType === null || entry.contentType === filter.contentType)
  );
}

const recencyHalfLifeMs = 24 * 3_600_000;

/** Weights of the signals; recency is the only one so far. */
export const weights = { recency: 1 } as const;

/**
 * Scores candidates and sorts them, best first. Score = Σ weight·signal / Σ weight, every signal
 * in [0, 1]; recency is 2^(-age / half-life), so an item loses half of it each day.
 */
export function rank(candidates: readonly FeedEntry[], nowMs: number): RankedEntry[] {
  return candidates
    .map((entry) => {
      const ageMs = Math.max(0, nowMs - entry.freshSinceMs);
      const recency = 2 ** (-ageMs / recencyHalfLifeMs);
      return { entry, score: recency, signals: { recency } };
    })
    .toSorted((a, b) => b.score - a.score);
}

/** What the order must obey whatever the scores say: the viewer's own exclusions. */
export function applyRules(
  ranked: readonly RankedEntry[],
  excludedIds: ReadonlySet<string>,
): RankedEntry[] {
  return ranked.filter(({ entry }) => !excludedIds.has(entry.contentId));
}
