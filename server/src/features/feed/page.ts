/**
 * The synchronous part of a page: what the cursor has fixed for it, and what is chosen for the next.
 *
 * A cursor fixes the page that it asks for, so reading it again gives the same one, less what may not
 * be shown any more. A larger limit than the cursor was made for adds items that are chosen now. The
 * page after it is chosen while it is read, with everything that is known at that moment.
 */
import type { FeedSession } from './feed-cursor.ts';
import { isDue, type FeedEntry } from './items/feed-entry.ts';
import { Choice, RankingTooSlowError, type ChoiceParts } from './ranking/choice.ts';
import { visitNewest } from './ranking/filter.ts';
import { planItems, type Chosen, type Plan, type PlanRequest } from './ranking/order.ts';

export type Taken = {
  readonly page: readonly Chosen[];
  readonly next: FeedSession;
  /** True if neither this page nor any later one has an item that the viewer has not seen. */
  readonly isExhausted: boolean;
  /** Why the order is newest first; null when it was ranked. */
  readonly fallback: string | null;
};

export type PageRequest = {
  readonly limit: number;
  readonly session: FeedSession;
  /** Items that are live, those with the most viewers first. */
  readonly live: readonly FeedEntry[];
  /** Whether items are ranked. If not, they are newest first. */
  readonly isRanked: boolean;
};

export function takePage(
  parts: ChoiceParts,
  request: PageRequest,
  onError: (error: unknown) => void,
): Taken {
  const fixed = takeFixed(parts, request);
  const missing = request.limit - Math.max(request.session.planned, fixed.used);
  const extra = Math.max(0, missing);
  const planRequest: PlanRequest = {
    wanted: extra + request.limit,
    position: fixed.served.size,
    previousAuthor: fixed.page.at(-1)?.entry.author ?? null,
    live: request.live,
  };
  const { plan, fallback } = planOrFallBack(parts, request, fixed.served, planRequest, onError);
  const added = plan.chosen.slice(0, extra);
  const ahead = plan.chosen.slice(extra);
  const served = fixed.served;
  for (const { entry } of added) served.add(entry.serialNumber);
  const page = [...fixed.page, ...added];
  const isSeen = (entry: FeedEntry) =>
    parts.viewer.seenSecondOf(entry.serialNumber, Math.floor(parts.nowMs / 1_000)) > 0;
  return {
    page,
    next: {
      feedId: request.session.feedId,
      planned: request.limit,
      order: ahead.map(({ entry }) => entry.serialNumber),
      explorations: ahead.flatMap(({ isExploration }, place) => (isExploration ? [place] : [])),
      served,
    },
    isExhausted:
      plan.isExhausted && (ahead.length === 0 || page.some(({ entry }) => isSeen(entry))),
    fallback,
  };
}

type Fixed = { page: Chosen[]; served: Set<number>; used: number };

/** The items that the cursor fixed and that may still be shown. */
function takeFixed(parts: ChoiceParts, { limit, session }: PageRequest): Fixed {
  const choice = new Choice(parts);
  const served = new Set(session.served);
  const explorations = new Set(session.explorations);
  const page: Chosen[] = [];
  const used = Math.min(limit, session.order.length);
  for (const [place, serialNumber] of session.order.slice(0, used).entries()) {
    served.add(serialNumber);
    const entry = parts.index.find(serialNumber);
    if (entry === undefined || !choice.isEligible(entry)) continue;
    page.push({ entry, isExploration: explorations.has(place) });
  }
  return { page, served, used };
}

function planOrFallBack(
  parts: ChoiceParts,
  { isRanked }: PageRequest,
  served: ReadonlySet<number>,
  request: PlanRequest,
  onError: (error: unknown) => void,
): { plan: Plan; fallback: string | null } {
  if (!isRanked) return { plan: planNewest(newChoice(parts, served), request), fallback: null };
  try {
    return { plan: planItems(newChoice(parts, served), request), fallback: null };
  } catch (error) {
    const isSlow = error instanceof RankingTooSlowError;
    if (!isSlow) onError(error);
    const plan = planNewest(newChoice(parts, served), request);
    return { plan, fallback: isSlow ? 'too_slow' : 'failed' };
  }
}

/** A choice that excludes everything that the session has been served. */
function newChoice(parts: ChoiceParts, served: ReadonlySet<number>): Choice {
  const choice = new Choice(parts);
  for (const serialNumber of served) {
    const entry = parts.index.find(serialNumber);
    if (entry !== undefined) choice.leaveOut(entry);
  }
  return choice;
}

/** Newest first, unseen items before seen ones: used when ranking is off or has failed. */
function planNewest(choice: Choice, { wanted }: PlanRequest): Plan {
  const { index, filter, viewer, nowMs } = choice.parts;
  const chosen: Chosen[] = [];
  visitNewest(index, filter, (entry) => {
    if (choice.take(entry)) chosen.push({ entry, isExploration: false });
    return chosen.length < wanted;
  });
  const isExhausted = chosen.length < wanted;
  if (isExhausted) {
    for (const serialNumber of viewer.hiddenItems(Math.floor(nowMs / 1_000))) {
      if (chosen.length >= wanted) break;
      const entry = index.find(serialNumber);
      if (entry === undefined || !isDue(entry, nowMs) || !choice.takeSeen(entry)) continue;
      chosen.push({ entry, isExploration: false });
    }
  }
  return { chosen, isExhausted };
}
