/**
 * The stage `rules`: assigns candidates to the places of a page. Nothing here changes a score.
 *
 * 1. Pins have their places. Two pins for the same place follow each other, older rule first, even
 *    across a page boundary.
 * 2. Live items come at the start of a session, most viewers first.
 * 3. Neighbours never share an author while an eligible item of another author is left. The same
 *    holds among seen items. Pins and live items take precedence over this rule.
 * 4. Further items of an author count less, and so does an item that resembles its two
 *    predecessors, both to the degree of `diversity`.
 * 5. A share of the places goes to items that few viewers have encountered.
 * 6. Seen items come when nothing else is left, least recently seen first.
 */
import type { FeedEntry } from '../items/feed-entry.ts';
import type { Choice } from './choice.ts';
import { matchesRule, type RuleMatch } from './editorial.ts';
import { drawExplorations } from './exploration.ts';
import { visitNewest } from './filter.ts';
import { noAuthor, Picker } from './picker.ts';
import { poolOf, type Session } from './pool.ts';
import { rank } from './rank.ts';
import { shortlist } from './sources.ts';

export type Chosen = { readonly entry: FeedEntry; readonly isExploration: boolean };

export type PagePlan = {
  readonly chosen: readonly Chosen[];
  /** Whether nothing was left that the viewer has not seen. */
  readonly isExhausted: boolean;
};

export type PagePlanRequest = {
  readonly wanted: number;
  /** Number of items already served in the session. */
  readonly position: number;
  /** The `authorNumber` of the previous item. */
  readonly previousAuthor: number;
  /** Live items, most viewers first. */
  readonly live: readonly FeedEntry[];
};

/**
 * Chooses the next items of a session. `choice` must exclude those already served.
 *
 * @param session whose cached candidates may be used, or null to compute them
 */
export function planItems(
  choice: Choice,
  request: PagePlanRequest,
  session: Session | null = null,
): PagePlan {
  const { wanted, position } = request;
  const pins = takePins(choice, request);
  const live = position === 0 ? request.live.filter((entry) => choice.take(entry)) : [];
  const explorations = drawExplorations(choice);
  const isSlot = explorationSlots(choice, wanted);
  // Surplus explorations compete with the other candidates.
  const slots = Math.min(explorations.length, isSlot.size);
  for (const entry of explorations.splice(slots)) choice.putBack(entry);
  const pool = session === null ? rank(choice, shortlist(choice)) : poolOf(choice, session);
  choice.checkTime();
  const picker = new Picker(choice, pool, request.previousAuthor);
  const chosen: Chosen[] = [];
  let isExhausted = false;
  while (chosen.length < wanted) {
    const place = position + chosen.length;
    const next = pins.get(place + 1)?.authorNumber ?? noAuthor;
    const entry = pins.get(place) ?? takeLive(picker, live, next);
    const explored =
      entry === null && isSlot.has(chosen.length) ? picker.takeFitting(explorations, next) : null;
    const picked = entry ?? explored ?? pickRest(picker, explorations, next);
    if (picked === null) {
      isExhausted = true;
      break;
    }
    pins.delete(place);
    picker.place(picked);
    chosen.push({ entry: picked, isExploration: explored !== null });
    if (chosen.length % 8 === 0) choice.checkTime();
  }
  // If the page ends before a pin's place, the pin comes last.
  for (const entry of pins.values()) {
    picker.place(entry);
    chosen.push({ entry, isExploration: false });
  }
  if (isExhausted) addSeen(choice, picker, wanted, chosen);
  return { chosen: chosen.slice(0, wanted), isExhausted };
}

/** The first live item that is allowed here, otherwise the first of all. */
function takeLive(picker: Picker, live: FeedEntry[], nextAuthor: number): FeedEntry | null {
  if (live.length === 0) return null;
  return picker.takeFitting(live, nextAuthor) ?? live.shift() ?? null;
}

/** Drawn explorations are used as well once nothing else of another author is left. */
function pickRest(picker: Picker, explorations: FeedEntry[], nextAuthor: number): FeedEntry | null {
  return (
    picker.pickOther(nextAuthor) ??
    picker.takeFitting(explorations, nextAuthor) ??
    picker.pick() ??
    explorations.shift() ??
    null
  );
}

/** The entries that editors have pinned to places in this part of the session. */
function takePins(choice: Choice, { position, wanted }: PagePlanRequest): Map<number, FeedEntry> {
  const found = new Map<number, FeedEntry>();
  for (const pin of choice.parts.rules.pins) {
    if (pin.place < position || pin.place >= position + wanted) continue;
    const entry = findPinned(choice, pin.match);
    if (entry === null) continue;
    let place = Math.max(pin.position, position);
    while (found.has(place)) place += 1;
    found.set(place, entry);
  }
  return found;
}

/** Takes the newest eligible entry that matches a pin, even if it was already seen. */
function findPinned(choice: Choice, match: RuleMatch): FeedEntry | null {
  const { index, filter } = choice.parts;
  if (match.contentId !== undefined) {
    const entry = index.findById(match.contentId);
    const fits = entry !== undefined && matchesRule(entry, match) && choice.takeSeen(entry);
    return fits ? entry : null;
  }
  let found: FeedEntry | null = null;
  const { tags, author = null, section = null } = match;
  const wanted = { ...filter, author: author ?? filter.author, section: section ?? filter.section };
  visitNewest(index, { ...wanted, tags: tags ?? filter.tags }, (entry) => {
    if (matchesRule(entry, match) && choice.takeSeen(entry)) found = entry;
    return found === null;
  });
  return found;
}

/** Places for exploration: evenly spread, starting at a random one. */
function explorationSlots(choice: Choice, wanted: number): Set<number> {
  const { config, random } = choice.parts;
  const slots = new Set<number>();
  if (config.exploration <= 0) return slots;
  const distance = 1 / config.exploration;
  for (let at = random() * distance; at < wanted; at += distance) slots.add(Math.floor(at));
  return slots;
}

/**
 * Fills up with seen items, least recently seen first. Avoids consecutive items of the same author.
 */
function addSeen(choice: Choice, picker: Picker, wanted: number, chosen: Chosen[]): void {
  const { index, viewer } = choice.parts;
  if (viewer.size === 0) return;
  const skipped: FeedEntry[] = [];
  const add = (entry: FeedEntry) => {
    picker.place(entry);
    chosen.push({ entry, isExploration: false });
  };
  for (const serialNumber of viewer.hiddenItems(choice.nowSecond)) {
    const entry = index.find(serialNumber);
    if (entry === undefined || !choice.takeSeen(entry)) continue;
    skipped.push(entry);
    for (
      let fitting = picker.takeFitting(skipped);
      fitting !== null && chosen.length < wanted;
      fitting = picker.takeFitting(skipped)
    ) {
      add(fitting);
    }
    if (chosen.length >= wanted) return;
  }
  for (const entry of skipped.slice(0, wanted - chosen.length)) add(entry);
}
