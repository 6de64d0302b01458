/** What editors decide about items, whatever their scores are. */
import type { FeedEntry } from '../items/feed-entry.ts';

export type RuleMatch = {
  readonly contentId?: string;
  /** Any of them. */
  readonly tags?: readonly string[];
  readonly author?: string;
  readonly section?: string;
};

export type RuleType = 'boost' | 'suppress' | 'pin' | 'exclude';

export type EditorialRule = {
  readonly type: RuleType;
  /** All that is named must match. */
  readonly match: RuleMatch;
  /** The factor of boosts and suppressions, by which the score is multiplied. */
  readonly factor: number | null;
  /** Of pins: the place in the session, from 0. */
  readonly position: number | null;
  /** Milliseconds; -Infinity and Infinity where there is no limit. */
  readonly startsAtMs: number;
  readonly endsAtMs: number;
};

/** `place` is the position, or the next one that no older pin has. */
export type Pin = { readonly place: number; readonly position: number; readonly match: RuleMatch };

export function matchesRule(entry: FeedEntry, match: RuleMatch): boolean {
  return (
    (match.contentId === undefined || match.contentId === entry.contentId) &&
    (match.tags === undefined || match.tags.some((tag) => entry.tags.includes(tag))) &&
    (match.author === undefined || match.author === entry.author) &&
    (match.section === undefined || match.section === entry.section)
  );
}

/** The rules that hold at a moment. Of several rules of one type, the older comes first. */
export class EditorialRules {
  readonly #active: readonly EditorialRule[];
  readonly #excluded: readonly RuleMatch[];
  readonly #factors: readonly EditorialRule[];
  /** By position; of two for one position the later one takes the next place. */
  readonly pins: readonly Pin[];
  /** What editors want to be seen, for candidates. */
  readonly boosted: readonly RuleMatch[];

  constructor(rules: readonly EditorialRule[], nowMs: number) {
    const active = rules.filter((rule) => rule.startsAtMs <= nowMs && nowMs < rule.endsAtMs);
    this.#active = active;
    this.#excluded = active.filter(({ type }) => type === 'exclude').map(({ match }) => match);
    this.#factors = active.filter(({ factor }) => factor !== null);
    this.boosted = active.filter(({ type }) => type === 'boost').map(({ match }) => match);
    this.pins = placePins(active);
  }

  /** Whether the same rules hold; a rule that was changed is another object. */
  isSameAs(other: EditorialRules): boolean {
    return (
      this.#active.length === other.#active.length &&
      this.#active.every((rule, index) => rule === other.#active[index])
    );
  }

  excludes(entry: FeedEntry): boolean {
    return this.#excluded.length > 0 && this.#excluded.some((match) => matchesRule(entry, match));
  }

  isPinned(entry: FeedEntry): boolean {
    return this.pins.some(({ match }) => matchesRule(entry, match));
  }

  /** What the order takes the score times: the product of all factors that match. */
  factorOf(entry: FeedEntry): number {
    if (this.#factors.length === 0) return 1;
    let product = 1;
    for (const { match, factor } of this.#factors) {
      if (matchesRule(entry, match)) product *= factor ?? 1;
    }
    return Math.min(maxFactor, product);
  }
}

function placePins(rules: readonly EditorialRule[]): Pin[] {
  let free = 0;
  return rules
    .flatMap(({ type, position, match }) =>
      type === 'pin' && position !== null ? [{ position, match }] : [],
    )
    .toSorted((a, b) => a.position - b.position)
    .map((pin) => {
      const place = Math.max(pin.position, free);
      free = place + 1;
      return { ...pin, place };
    });
}

/** Several boosts together count no more than this, so that a product stays a number. */
export const maxFactor = 1_000;
