/**
 * Caches the ranked candidates of a viewer until something changes: the viewer's activity, an item,
 * the counts, or the configuration. Usually nothing changes between two pages of a viewer, and
 * computing the candidates costs more than everything else a page does in memory.
 */
import { LRUCache } from 'lru-cache';
import { isDue, type FeedEntry } from '../items/feed-entry.ts';
import type { ItemVectors } from '../taste/item-vectors.ts';
import type { ViewerProfile } from '../viewers/viewer-profile.ts';
import { Choice, type ChoiceParts } from './choice.ts';
import type { EditorialRules } from './editorial.ts';
import { hasNoFilter } from './filter.ts';
import { rank, type Candidate } from './rank.ts';
import { shortlist } from './sources.ts';

/** Items age, and the best items of each tag are reselected. */
const keptForMs = 3_000;
/** A page takes up to 100 candidates; if fewer than this are left, they are recomputed. */
const leastLeft = 110;
/** Each entry takes about 8 KB. */
const maxKept = 1_500;

type Kept = {
  readonly candidates: readonly Candidate[];
  /** The session whose served items are excluded from the candidates, or null if none. */
  readonly feedId: string | null;
  /** Identifies the index without keeping it alive. */
  readonly indexNumber: number;
  readonly indexVersion: number;
  readonly vectors: ItemVectors | null;
  readonly viewerVersion: number;
  /** The list is replaced whenever counts have changed. */
  readonly popular: readonly FeedEntry[];
  readonly rules: EditorialRules;
  readonly scorerKey: string;
  readonly country: string | null;
  readonly recencyHalfLifeHours: number;
  readonly madeAtMs: number;
};

const kept = new LRUCache<ViewerProfile, Kept>({ max: maxKept });

export type Session = {
  readonly feedId: string;
  /** The items already served in the session. */
  readonly served: ReadonlySet<number>;
};

/**
 * The candidates for the next places, best first, all taken by `choice`, which must exclude the
 * items already served.
 */
export function poolOf(choice: Choice, session: Session): Candidate[] {
  const { parts } = choice;
  const known = canKeep(parts) ? kept.get(parts.viewer) : undefined;
  if (known !== undefined && isFresh(known, parts, session)) {
    const left = known.candidates.filter(
      ({ entry }) => isDue(entry, parts.nowMs) && choice.takeAgain(entry),
    );
    if (left.length >= leastLeft) return left;
    for (const { entry } of left) choice.putBack(entry);
  }
  return rank(choice, shortlist(choice));
}

/**
 * Computes and caches the candidates of a viewer before a page is chosen, if they can be cached.
 */
export function keepPool(parts: ChoiceParts, session: Session): void {
  if (!canKeep(parts)) return;
  const known = kept.get(parts.viewer);
  if (known !== undefined && isFresh(known, parts, session)) {
    let left = 0;
    for (const { entry } of known.candidates) {
      if (!session.served.has(entry.serialNumber)) left += 1;
    }
    if (left >= leastLeft) return;
  }
  const choice = new Choice(parts);
  leaveOutServed(choice, session);
  const { viewer, index, rules, scorer, country, config, nowMs } = parts;
  kept.set(viewer, {
    candidates: rank(choice, shortlist(choice)),
    feedId: session.served.size === 0 ? null : session.feedId,
    indexNumber: index.newestFirst.number,
    indexVersion: index.version,
    vectors: index.vectors,
    viewerVersion: viewer.version,
    popular: index.statistics.popular,
    rules,
    scorerKey: scorer.key,
    country,
    recencyHalfLifeHours: config.recencyHalfLifeHours,
    madeAtMs: nowMs,
  });
}

export function leaveOutServed(choice: Choice, { served }: Session): void {
  const { index } = choice.parts;
  for (const serialNumber of served) {
    const entry = index.find(serialNumber);
    if (entry !== undefined) choice.leaveOut(entry);
  }
}

function canKeep({ filter, excludedIds, canPresent }: ChoiceParts): boolean {
  return hasNoFilter(filter) && excludedIds.size === 0 && canPresent === null;
}

function isFresh(known: Kept, parts: ChoiceParts, { feedId }: Session): boolean {
  const { viewer, index, rules, scorer, country, config, nowMs } = parts;
  return (
    known.indexNumber === index.newestFirst.number &&
    known.indexVersion === index.version &&
    known.vectors === index.vectors &&
    known.viewerVersion === viewer.version &&
    known.popular === index.statistics.popular &&
    (known.feedId === null || known.feedId === feedId) &&
    nowMs - known.madeAtMs < keptForMs &&
    known.country === country &&
    known.recencyHalfLifeHours === config.recencyHalfLifeHours &&
    known.scorerKey === scorer.key &&
    known.rules.isSameAs(rules)
  );
}
