/** Finds items similar to an item: watched by the same viewers, or with the same topics. */
import { setImmediate } from 'node:timers/promises';
import type { FeedEntry } from '../items/feed-entry.ts';
import type { OrganizationIndex } from '../items/organization-index.ts';
import type { Choice } from '../ranking/choice.ts';
import { tasteDimensions } from './factorize.ts';
import type { ItemVectors } from './item-vectors.ts';

/** The item to compare with others. */
export type Original = {
  readonly serialNumber: number;
  readonly tags: readonly string[];
  readonly author: string | null;
};

const tagShare = 0.5;
const authorShare = 0.2;
/** Anything less does not count as similar. */
const leastLikeness = 0.05;
const neighbours = 200;
const newestOfList = 300;
/** Yields to other requests after this many comparisons. */
const comparedAtOnce = 50_000;

/**
 * Candidates, most similar first.
 *
 * @param choice decides what may be shown; the original is excluded from it
 */
export async function similarTo(
  original: Original,
  index: OrganizationIndex,
  newChoice: () => Choice,
  limit: number,
): Promise<FeedEntry[]> {
  const likeness = new Map<FeedEntry, number>();
  if (index.vectors !== null) {
    for (const { serialNumber, cosine } of await nearestTo(original.serialNumber, index.vectors)) {
      const entry = index.find(serialNumber);
      if (entry !== undefined) likeness.set(entry, cosine);
    }
  }
  const lists = original.tags.map((tag) => index.list('tag', tag));
  if (original.author !== null) lists.push(index.list('author', original.author));
  for (const list of lists) {
    for (const entry of list.first(newestOfList)) {
      if (!likeness.has(entry)) likeness.set(entry, 0);
    }
  }
  const found: { entry: FeedEntry; value: number; popularity: number }[] = [];
  const nowMs = Date.now();
  for (const [entry, cosine] of likeness) {
    const isSameAuthor = entry.author !== null && entry.author === original.author;
    const value =
      cosine + tagShare * jaccard(entry.tags, original.tags) + (isSameAuthor ? authorShare : 0);
    if (value < leastLikeness || entry.serialNumber === original.serialNumber) continue;
    found.push({ entry, value, popularity: index.statistics.popularityOf(entry, nowMs) });
  }
  const choice = newChoice();
  return found
    .toSorted((a, b) => b.value - a.value || b.popularity - a.popularity)
    .filter(({ entry }) => choice.take(entry))
    .slice(0, limit)
    .map(({ entry }) => entry);
}

type Neighbour = { readonly serialNumber: number; readonly cosine: number };

const maxKnown = 1_000;
const knownNeighbours = new WeakMap<ItemVectors, Map<number, readonly Neighbour[]>>();

/** The items whose vectors are closest in direction to that of an item. Cached for a while. */
async function nearestTo(
  serialNumber: number,
  vectors: ItemVectors,
): Promise<readonly Neighbour[]> {
  let known = knownNeighbours.get(vectors);
  if (known === undefined) knownNeighbours.set(vectors, (known = new Map()));
  const found = known.get(serialNumber) ?? (await findNearest(serialNumber, vectors));
  // A Map iterates in insertion order, so its first key is the oldest.
  const [oldest] = known.keys();
  if (known.size >= maxKnown && oldest !== undefined) known.delete(oldest);
  known.set(serialNumber, found);
  return found;
}

/** Added to the length of each vector: a vector based on few viewers is short and counts less. */
const shortVector = 0.5;

async function findNearest(serialNumber: number, vectors: ItemVectors): Promise<Neighbour[]> {
  const own = vectors.placeOf(serialNumber);
  if (own === -1) return [];
  const vector = new Float32Array(tasteDimensions);
  const other = new Float32Array(tasteDimensions);
  vectors.readInto(own, vector);
  const length = Math.hypot(...vector);
  let nearest: Neighbour[] = [];
  for (let place = 0; place < vectors.size; place += 1) {
    if (place % comparedAtOnce === comparedAtOnce - 1) await setImmediate();
    if (place === own) continue;
    const product = vectors.productWith(place, vector);
    if (product <= 0) continue;
    vectors.readInto(place, other);
    const cosine = product / ((length + shortVector) * (lengthOf(other) + shortVector));
    nearest.push({ serialNumber: vectors.serialNumberAt(place), cosine });
    if (nearest.length >= 4 * neighbours) nearest = keepNearest(nearest);
  }
  return keepNearest(nearest);
}

function keepNearest(found: Neighbour[]): Neighbour[] {
  return found.toSorted((a, b) => b.cosine - a.cosine).slice(0, neighbours);
}

function lengthOf(vector: Float32Array): number {
  let squares = 0;
  for (const one of vector) squares += one * one;
  return Math.sqrt(squares);
}

function jaccard(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return 0;
  let both = 0;
  for (const tag of a) if (b.includes(tag)) both += 1;
  return both / (a.length + b.length - both);
}
