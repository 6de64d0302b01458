/** Candidates that suit a viewer's taste, inferred from the behaviour of others. */
import type { FeedEntry } from '../items/feed-entry.ts';
import type { OrganizationIndex } from '../items/organization-index.ts';
import type { ItemVectors } from './item-vectors.ts';
import type { Taste } from './viewer-taste.ts';

/** Besides popular items, only this many of the newest items with vectors are compared. */
const maxNewest = 3_000;
const newestLookedAt = 20_000;
const poolForMs = 10_000;
const kept = 300;

type Pool = {
  readonly vectors: ItemVectors;
  readonly madeAt: number;
  readonly entries: FeedEntry[];
};

const pools = new WeakMap<OrganizationIndex, Pool>();
const ranked = new WeakMap<
  Taste,
  { readonly pool: Pool; readonly entries: readonly FeedEntry[] }
>();

/** The items that best suit a taste, best first. Some may have left the index since. */
export function bestOfTaste(taste: Taste, index: OrganizationIndex): readonly FeedEntry[] {
  const pool = poolOf(index, taste.vectors);
  const known = ranked.get(taste);
  if (known?.pool === pool) return known.entries;
  const entries = pool.entries
    .map((entry) => ({ entry, logit: taste.logitOf(entry) }))
    .filter(({ logit }) => logit > 0)
    .toSorted((a, b) => b.logit - a.logit)
    .slice(0, kept)
    .map(({ entry }) => entry);
  ranked.set(taste, { pool, entries });
  return entries;
}

function poolOf(index: OrganizationIndex, vectors: ItemVectors): Pool {
  const known = pools.get(index);
  const now = performance.now();
  if (known?.vectors === vectors && now - known.madeAt < poolForMs) return known;
  const entries = new Set<FeedEntry>();
  const add = (entry: FeedEntry) => {
    if (vectors.placeOf(entry.serialNumber) !== -1) entries.add(entry);
  };
  let looked = 0;
  for (const entry of index.newestFirst) {
    looked += 1;
    if (entries.size >= maxNewest || looked > newestLookedAt) break;
    add(entry);
  }
  for (const entry of index.statistics.popular) add(entry);
  const pool = { vectors, madeAt: now, entries: [...entries] };
  pools.set(index, pool);
  return pool;
}
