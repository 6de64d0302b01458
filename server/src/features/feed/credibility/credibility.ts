/**
 * The weight of a viewer's day for the items that the viewer encountered. Anyone can make up viewers,
 * so a viewer without other activity has no weight. Weight must be earned: by encountering other
 * items, by coming back on other days, and by not sharing a network with a crowd.
 *
 *   weight = others / (others + 2) · age · 2^−crowd
 *
 * - `others`: the number of other items encountered on that day, plus four for each earlier day. A
 *   played item counts 1, one that was only in view 1/4. The fraction is the share of the viewer's
 *   own evidence in a Bayesian average with a prior of two items (as in Herlocker et al. 1999,
 *   "significance weighting").
 * - `age`: 1/2 on the first day, 3/4 on the second, then 1; 1 for a viewer whose id an app's server
 *   has signed.
 * - `crowd`: the number of doublings by which the network exceeded its share of viewers
 *   (events/intake/crowds.ts), so that n viewers of one network weigh about log n.
 *
 * Weights are whole hundredths, so that sums do not depend on their order.
 */
import { completed, played, shared, shown, type DayItem, type ViewerDay } from './viewer-day.ts';

export type CredibleCounts = {
  shown: number;
  plays: number;
  completions: number;
  reactions: number;
};

export type Contribution = CredibleCounts & { readonly serialNumber: number };

/** The contribution of one viewer's day to the counts of items. */
export type Contributions = {
  /** Whether the viewer is known from earlier days or vouched for; otherwise a newcomer. */
  readonly isKnown: boolean;
  readonly country: string;
  readonly items: readonly Contribution[];
};

/** A day of a viewer who did nothing. */
export const noContributions: Contributions = { isKnown: false, country: '', items: [] };

/** Number of earlier days that count: as many as item counts cover. */
export const credibilityHistoryDays = 14;
const knownFrom = 2;
const priorItems = 2;
const itemsOfEarlierDay = 4;
const onlyShown = 0.25;
/** Weights of a like, a save and a share. */
const reactionWeights = { like: 1, save: 2, share: 3 } as const;

/** @param earlierDays number of the previous `credibilityHistoryDays` on which the viewer was active */
export function contributionsOf(day: ViewerDay, earlierDays: number): Contributions {
  const isKnown = day.isVouched || earlierDays >= knownFrom;
  const age = isKnown ? 1 : earlierDays === 1 ? 0.75 : 0.5;
  const factor = 100 * age * 2 ** -day.crowd;
  let met = earlierDays * itemsOfEarlierDay;
  for (const item of day.items.values()) met += evidenceOf(item);
  const items: Contribution[] = [];
  for (const [serialNumber, item] of day.items) {
    // Reactions to items that were never shown are ignored, so reactions never exceed showings.
    const evidence = evidenceOf(item);
    if (evidence === 0) continue;
    const others = met - evidence;
    const weight = Math.round((factor * others) / (others + priorItems));
    if (weight > 0) items.push(contributionOf(serialNumber, item, weight));
  }
  return { isKnown, country: day.country, items };
}

function contributionOf(serialNumber: number, item: DayItem, weight: number): Contribution {
  const { flags, likeMark, saveMark } = item;
  const reactions =
    (likeMark % 2) * reactionWeights.like +
    (saveMark % 2) * reactionWeights.save +
    ((flags & shared) === 0 ? 0 : reactionWeights.share);
  return {
    serialNumber,
    shown: weight,
    plays: (flags & played) === 0 ? 0 : weight,
    completions: (flags & completed) === 0 ? 0 : weight,
    reactions: weight * reactions,
  };
}

function evidenceOf({ flags }: DayItem): number {
  if ((flags & played) !== 0) return 1;
  return (flags & shown) === 0 ? 0 : onlyShown;
}
