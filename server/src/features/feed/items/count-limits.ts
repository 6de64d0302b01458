/**
 * Limits the influence of newcomers on one item. New ids are free to create, so the number of
 * newcomers is bounded by what other items get, and their reaction rate by that of the best-liked
 * items. The counts are winsorized (Tukey 1962; Dixon and Tukey 1968), which a single item can't
 * move.
 */
import type { CredibleCounts } from '../credibility/credibility.ts';
import { priorShowings } from '../ranking/signals/engagement.ts';
import { knownOf, newcomersOf, type ItemStats } from './item-stats.ts';

export type CountLimits = {
  /** This many newcomers always count for an item. */
  readonly newcomers: number;
  /**
   * Reactions per showing over all items, and the highest rate that newcomers can produce,
   * smoothed.
   */
  readonly mean: number;
  readonly highestRate: number;
};

/** The limit if hardly any items have newcomers. */
const leastNewcomers = 30;
/** The quantile of newcomers per item; an item may have twice as many. */
const usualShare = 0.75;
const timesUsual = 2;
/**
 * The quantile of rates that caps newcomers. It is below 1, so the best item never sets the cap.
 */
const highShare = 0.95;
/** Cap on an item's showings in the scales, so that no item dominates. */
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

/** The counts of an item with newcomers limited. Reactions never exceed showings. */
export function limitedCounts(stats: ItemStats, limits: CountLimits): CredibleCounts {
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

export function forScale(counts: CredibleCounts): CredibleCounts {
  const share = Math.min(1, maxShownForScale / counts.shown);
  return {
    shown: counts.shown * share,
    reactions: counts.reactions * share,
    plays: counts.plays * share,
    completions: counts.completions * share,
  };
}

function meanRate(counts: readonly CredibleCounts[]): number {
  const shown = counts.reduce((sum, count) => sum + count.shown, 0);
  const reactions = counts.reduce((sum, count) => sum + count.reactions, 0);
  return shown > 0 ? reactions / shown : 0;
}

function smoothed({ shown, reactions }: CredibleCounts, mean: number): number {
  return (reactions + priorShowings * mean) / (shown + priorShowings);
}

/** The value below which a share of the values lie; with two or more values, never the largest. */
export function quantile(values: readonly number[], share: number): number {
  const ascending = values.toSorted((a, b) => a - b);
  return ascending[Math.floor((ascending.length - 1) * share)] ?? 0;
}
