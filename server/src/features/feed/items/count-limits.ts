/**
 * How much newcomers may say about one item. Their ids cost nothing to make, so their number is bounded
 * by what other items get, and their opinion by what is usual among the best liked items: the counts are
 * winsorized (Tukey 1962; Dixon and Tukey 1968), which a single item can't move.
 */
import type { Counts } from '../credibility/credibility.ts';
import { priorShowings } from '../ranking/signals/engagement.ts';
import { knownOf, newcomersOf, type ItemStats } from './item-stats.ts';

export type CountLimits = {
  /** This many newcomers count for an item in any case. */
  readonly newcomers: number;
  /** Reactions per showing of all items, and the highest rate that newcomers can give, smoothed. */
  readonly mean: number;
  readonly highestRate: number;
};

/** This many newcomers count where there are hardly any others. */
const leastNewcomers = 30;
/** Three of four items have fewer newcomers; an item may have twice as many. */
const usualShare = 0.75;
const timesUsual = 2;
/** One of twenty items is liked better. The best one is never the measure. */
const highShare = 0.95;
/** An item shown more often counts no more than this for the scales, so that none speaks for all. */
export const maxShownForScale = 100;

export const noLimits: CountLimits = { newcomers: leastNewcomers, mean: 0, highestRate: 1 };

export function countLimits(sample: readonly ItemStats[]): CountLimits {
  const numbers = sample.map((stats) => newcomersOf(stats, 'shown')).filter((shown) => shown > 0);
  const usual = quantile(numbers, usualShare);
  const limits = { newcomers: Math.max(leastNewcomers, timesUsual * usual) };
  const open = { ...limits, mean: 0, highestRate: Infinity };
  const counts = sample.map((stats) => forScale(limitedCounts(stats, open)));
  const mean = meanRate(counts);
  const rates = counts.filter(({ shown }) => shown > 0).map((count) => smoothed(count, mean));
  const highestRate = rates.length < 2 ? 1 : Math.max(mean, quantile(rates, highShare));
  const limited = { ...limits, mean, highestRate };
  return {
    ...limited,
    mean: meanRate(sample.map((stats) => forScale(limitedCounts(stats, limited)))),
  };
}

/** The counts of an item with what newcomers may say about it. Reactions never exceed showings. */
export function limitedCounts(stats: ItemStats, limits: CountLimits): Counts {
  const known = {
    shown: knownOf(stats, 'shown'),
    reactions: Math.min(knownOf(stats, 'reactions'), knownOf(stats, 'shown')),
  };
  const newcomers = newcomersOf(stats, 'shown');
  const most = Math.max(limits.newcomers, known.shown);
  const share = newcomers > most ? most / newcomers : 1;
  const shown = newcomers * share;
  const allowed = limits.highestRate * (shown + priorShowings) - limits.mean * priorShowings;
  const reactions = Math.min(newcomersOf(stats, 'reactions') * share, shown, Math.max(0, allowed));
  return {
    shown: known.shown + shown,
    reactions: known.reactions + reactions,
    plays: knownOf(stats, 'plays') + newcomersOf(stats, 'plays') * share,
    completions: knownOf(stats, 'completions') + newcomersOf(stats, 'completions') * share,
  };
}

/** The counts with which an item takes part in a scale. */
export function forScale(counts: Counts): Counts {
  const share = Math.min(1, maxShownForScale / counts.shown);
  return {
    shown: counts.shown * share,
    reactions: counts.reactions * share,
    plays: counts.plays * share,
    completions: counts.completions * share,
  };
}

function meanRate(counts: readonly Counts[]): number {
  const shown = counts.reduce((sum, count) => sum + count.shown, 0);
  const reactions = counts.reduce((sum, count) => sum + count.reactions, 0);
  return shown > 0 ? reactions / shown : 0;
}

function smoothed({ shown, reactions }: Counts, mean: number): number {
  return (reactions + priorShowings * mean) / (shown + priorShowings);
}

/** The value below which a share of the values lie; of two or more never the greatest. */
export function quantile(values: readonly number[], share: number): number {
  const ascending = values.toSorted((a, b) => a - b);
  return ascending[Math.floor((ascending.length - 1) * share)] ?? 0;
}
