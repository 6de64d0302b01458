/** Editorial rules (boost, suppress, pin, exclude), which apply regardless of scores. */
import type { FeedEntry } from '../items/feed-entry.ts';

export type RuleMatch = {
  readonly contentId?: string;
  readonly tags?: readonly string[];
  readonly author?: string;
  readonly section?: string;
};

export type RuleType = 'boost' | 'suppress' | 'pin' | 'exclude';

export type EditorialRule = {
  readonly type: RuleType;
  /** All given conditions must match. */
  readonly match: RuleMatch;
  /** For boosts and suppressions: the factor applied to the score. */
  readonly factor: number | null;
  /** For pins: the zero-based place in the session. */
  readonly position: number | null;
  /** Milliseconds; -Infinity and Infinity if there is no limit. */
  readonly startsAtMs: number;
  readonly endsAtMs: number;
};

/** `place` is the position, or the next one not taken by an older pin. */
export type Pin = { readonly place: number; readonly position: number; readonly match: RuleMatch };

export function matchesRule(entry: FeedEntry, match: RuleMatch): boolean {
  return (
    (match.contentId === undefined || match.contentId === entry.contentId) &&
    (match.tags === undefined || match.tags.some((tag) => entry.tags.includes(tag))) &&
    (match.author === undefined || match.author === entry.author) &&
    (match.section === undefined || match.section === entry.section)
  );
}

/** The rules in effect at a given time. Older rules of the same type come first. */
export class EditorialRules {
  readonly #active: readonly EditorialRule[];
  readonly #excluded: readonly RuleMatch[];
  readonly #factors: readonly EditorialRule[];
  /** By position. If two have the same position, the later rule takes the next place. */
  readonly pins: readonly Pin[];
  readonly boosted: readonly RuleMatch[];

  constructor(rules: readonly EditorialRule[], nowMs: number) {
    const active = rules.filter((rule) => rule.startsAtMs <= nowMs && nowMs < rule.endsAtMs);
    this.#active = active;
    this.#excluded = active.filter(({ type }) => type === 'exclude').map(({ match }) => match);
    this.#factors = active.filter(({ factor }) => factor !== null);
    this.boosted = active.filter(({ type }) => type === 'boost').map(({ match }) => match);
    this.pins = placePins(active);
  }

  /** Whether the same rules are in effect. A changed rule is a new object. */
  isSameAs(other: EditorialRules): boolean {
    return (
      this.#active.length === other.#active.length &&
      this.#active.every((rule, index) => rule === other.#active[index])
    );
  }

  excludes(entry: FeedEntry): boolean {
    return this.#excluded.some((match) => matchesRule(entry, match));
  }

  isPinned(entry: FeedEntry): boolean {
    return this.pins.some(({ match }) => matchesRule(entry, match));
  }

  /** The product of all matching factors, by which the score is multiplied for sorting. */
  factorOf(entry: FeedEntry): number {
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

/** Cap on the product of boosts, so that it stays finite. */
export const maxFactor = 1_000;
