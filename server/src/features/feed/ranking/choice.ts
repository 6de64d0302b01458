/** One choice of entries for one viewer: tracks what is eligible and what is already taken. */
import { isDue, type FeedEntry } from '../items/feed-entry.ts';
import type { OrganizationIndex } from '../items/organization-index.ts';
import type { ViewerProfile } from '../viewers/viewer-profile.ts';
import type { RankingConfig } from './config.ts';
import type { EditorialRules } from './editorial.ts';
import { matches, type FeedFilter } from './filter.ts';
import type { Scorer } from './scorer.ts';
import { mayBeShownIn } from './signals/geo-relevance.ts';

export type ChoiceParts = {
  readonly index: OrganizationIndex;
  readonly viewer: ViewerProfile;
  readonly config: RankingConfig;
  readonly scorer: Scorer;
  readonly rules: EditorialRules;
  readonly filter: FeedFilter;
  readonly excludedIds: ReadonlySet<string>;
  /** Whether an entry can be presented while the database is down, or null if all can. */
  readonly canPresent: ((entry: FeedEntry) => boolean) | null;
  /** Two upper-case letters. */
  readonly country: string | null;
  readonly nowMs: number;
  /** From 0 to 1, like `Math.random`. */
  readonly random: () => number;
  /** When ranking must give up, on the clock of `performance.now`. */
  readonly deadline: number;
};

/** Ranking took longer than a viewer should wait. */
export class RankingTooSlowError extends Error {
  override readonly name = 'RankingTooSlowError';
}

let stamps = 0;

/** Finish one choice before starting another: entries carry the number of the last one. */
export class Choice {
  readonly parts: ChoiceParts;
  readonly nowSecond: number;
  readonly #stamp: number;

  constructor(parts: ChoiceParts) {
    this.parts = parts;
    this.nowSecond = Math.floor(parts.nowMs / 1_000);
    stamps += 1;
    this.#stamp = stamps;
  }

  /** Takes an entry that the viewer may see and has not seen. @returns whether it was taken */
  take(entry: FeedEntry): boolean {
    if (entry.stamp === this.#stamp || !this.isEligible(entry) || this.isSeen(entry)) return false;
    entry.stamp = this.#stamp;
    return true;
  }

  /** Takes an entry that the viewer may be shown, even if it was already seen. */
  takeSeen(entry: FeedEntry): boolean {
    if (entry.stamp === this.#stamp || !this.isEligible(entry)) return false;
    entry.stamp = this.#stamp;
    return true;
  }

  /** Takes an entry that was found eligible for the same viewer a moment ago. */
  takeAgain(entry: FeedEntry): boolean {
    if (entry.stamp === this.#stamp) return false;
    entry.stamp = this.#stamp;
    return true;
  }

  /** Excludes an entry from the choice. */
  leaveOut(entry: FeedEntry): void {
    entry.stamp = this.#stamp;
  }

  /** Makes a taken entry available again. */
  putBack(entry: FeedEntry): void {
    entry.stamp = 0;
  }

  isSeen(entry: FeedEntry): boolean {
    const { viewer } = this.parts;
    return viewer.size > 0 && viewer.seenSecondOf(entry.serialNumber, this.nowSecond) > 0;
  }

  /** Whether the viewer may be shown an entry at all. */
  isEligible(entry: FeedEntry): boolean {
    const { nowMs, filter, country, excludedIds, rules, viewer, canPresent } = this.parts;
    return (
      isDue(entry, nowMs) &&
      matches(entry, filter) &&
      (entry.geo === null || mayBeShownIn(entry.geo, country)) &&
      !(excludedIds.size > 0 && excludedIds.has(entry.contentId)) &&
      !rules.excludes(entry) &&
      !viewer.isRefused(entry.serialNumber) &&
      (canPresent === null || canPresent(entry))
    );
  }

  /** @throws RankingTooSlowError */
  checkTime(): void {
    if (performance.now() > this.parts.deadline) {
      throw new RankingTooSlowError('ranking a page timed out');
    }
  }
}
