/**
 * Thompson sampling (Thompson 1933): an item's reaction rate is drawn from its posterior
 * distribution, and the highest draw gets the place. A new item therefore gets a chance, and loses
 * it if nobody reacts.
 *
 * The distribution is a Beta distribution. Its prior has the mean rate of the item's tags as far as
 * known, otherwise that of the organization, with the weight of a few showings. A uniform prior
 * would assume far higher rates than items actually get, and would show weak items for too long.
 */
import type { FeedEntry } from '../items/feed-entry.ts';
import { reactionsOf, shownOf } from '../items/item-stats.ts';
import type { Choice } from './choice.ts';
import { priorShowings } from './signals/engagement.ts';

/** The number of candidates drawn for one choice, mostly from the newest items. */
const drawnOfNewest = 10;
const drawnOfOthers = 5;
/** In this share of choices, items of the last day come first, so that each is soon shown. */
const newFirst = 0.5;
const newForMs = 24 * 3_600_000;

/** Takes entries that few viewers have encountered, most promising draw first. */
export function drawExplorations(choice: Choice): FeedEntry[] {
  const { index, nowMs, random, viewer } = choice.parts;
  const { statistics } = index;
  const { unexplored } = statistics;
  const drawn: { entry: FeedEntry; draw: number }[] = [];
  const bonus = random() < newFirst ? 1 : 0;
  const isNew = (entry: FeedEntry) => nowMs - entry.freshSinceMs < newForMs;
  const drawFrom = (from: number, to: number, count: number) => {
    for (let tries = 0; tries < count && to > from; tries += 1) {
      const entry = unexplored[from + Math.floor(random() * (to - from))];
      if (entry === undefined || !isInIndex(choice, entry) || viewer.factorOf(entry) < 1) continue;
      if (!choice.take(entry)) continue;
      const draw = drawRate(entry, statistics.usualRateOf(entry), random);
      drawn.push({ entry, draw: isNew(entry) ? draw + bonus : draw });
    }
  };
  const middle = unexplored.length >> 1;
  drawFrom(0, Math.min(countNew(unexplored, nowMs), middle), drawnOfNewest);
  drawFrom(0, Math.max(middle, Math.min(unexplored.length, drawnOfNewest)), drawnOfNewest);
  drawFrom(middle, unexplored.length, drawnOfOthers);
  return drawn.toSorted((a, b) => b.draw - a.draw).map(({ entry }) => entry);
}

const newCounts = new WeakMap<readonly FeedEntry[], { count: number; untilMs: number }>();
const newCountForMs = 60_000;

/**
 * The number of new entries at the head of a list. Cached, because the list is long and rarely
 * rebuilt.
 */
function countNew(list: readonly FeedEntry[], nowMs: number): number {
  let known = newCounts.get(list);
  if (known === undefined || nowMs > known.untilMs) {
    const firstOld = list.findIndex((entry) => nowMs - entry.freshSinceMs >= newForMs);
    known = { count: firstOld === -1 ? list.length : firstOld, untilMs: nowMs + newCountForMs };
    newCounts.set(list, known);
  }
  return known.count;
}

/** The list is rebuilt only occasionally, so an entry may have left the index since. */
export function isInIndex({ parts: { index } }: Choice, entry: FeedEntry): boolean {
  return index.find(entry.serialNumber) === entry;
}

/** Draws from the distribution of an item's reaction rate. */
export function drawRate({ stats }: FeedEntry, usual: number, random: () => number): number {
  const shown = stats === null ? 0 : shownOf(stats);
  const reactions = stats === null ? 0 : Math.min(shown, Math.max(0, reactionsOf(stats)));
  // A rate of 0 or 1 would be a degenerate distribution.
  const prior = Math.min(0.99, Math.max(0.01, usual));
  return drawBeta(
    priorShowings * prior + reactions,
    priorShowings * (1 - prior) + shown - reactions,
    random,
  );
}

/** Draws from Beta(a, b) using two gamma draws. */
export function drawBeta(a: number, b: number, random: () => number): number {
  const x = drawGamma(a, random);
  const y = drawGamma(b, random);
  return x + y === 0 ? 0 : x / (x + y);
}

/** Draws from Gamma(shape, 1) by the method of Marsaglia and Tsang (2000). */
function drawGamma(shape: number, random: () => number): number {
  if (shape < 1) return drawGamma(shape + 1, random) * (1 - random()) ** (1 / shape);
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = drawNormal(random);
    const v = (1 + c * x) ** 3;
    if (v <= 0) continue;
    const u = 1 - random();
    if (Math.log(u) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v;
  }
}

/** Draws from the standard normal distribution by the method of Box and Muller (1958). */
function drawNormal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}
