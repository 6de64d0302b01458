/**
 * The synchronous part of a page: taking what the cursor has fixed, and choosing the next page.
 *
 * A cursor fixes its page, so reading it again gives the same page, minus items that may no longer
 * be shown. A larger limit than the cursor was made for adds items that are chosen now. The
 * following page is chosen at the same time, with everything known at that time.
 */
import type { FeedSession } from './feed-cursor.ts';
import { byFreshness, isDue, type FeedEntry, type OrderPlace } from './items/feed-entry.ts';
import { Choice, RankingTooSlowError, type ChoiceParts } from './ranking/choice.ts';
import { visitNewest } from './ranking/filter.ts';
import { planItems, type Chosen, type PagePlan, type PagePlanRequest } from './ranking/order.ts';
import { noAuthor } from './ranking/picker.ts';
import { keepPool, leaveOutServed, type Session } from './ranking/pool.ts';

export type Taken = {
  readonly page: readonly Chosen[];
  readonly next: FeedSession;
  /** True if neither this page nor any later one has an item that the viewer has not seen. */
  readonly isExhausted: boolean;
  /** Why the order is newest first, or null if it was ranked. */
  readonly fallback: string | null;
};

export type PageRequest = {
  readonly limit: number;
  readonly session: FeedSession;
  /** Live items, most viewers first. */
  readonly live: readonly FeedEntry[];
  /** Whether items are ranked. If not, they are newest first. */
  readonly isRanked: boolean;
};

export function takePage(
  parts: ChoiceParts,
  request: PageRequest,
  onError: (error: unknown) => void,
): Taken {
  const { session } = request;
  const fixed = takeFixed(parts, request);
  // If the database is unavailable, items in memory replace those that cannot be presented.
  const had =
    parts.canPresent === null
      ? Math.max(session.planned, fixed.used) - fixed.refused
      : fixed.page.length;
  const extra = Math.max(0, request.limit - had);
  const planRequest: PagePlanRequest = {
    wanted: extra + request.limit,
    position: fixed.served.size,
    previousAuthor: fixed.page.at(-1)?.entry.authorNumber ?? noAuthor,
    live: request.live,
  };
  const { plan, fallback } =
    session.sweptTo === null
      ? planOrFallBack(parts, request, fixed.served, planRequest, onError)
      : { plan: sweep(parts, fixed.served, planRequest, session.sweptTo), fallback: null };
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
      feedId: session.feedId,
      planned: request.limit,
      order: ahead.map(({ entry }) => entry.serialNumber),
      explorations: ahead.flatMap(({ isExploration }, place) => (isExploration ? [place] : [])),
      ...leftToRemember(parts, session, served, plan),
    },
    isExhausted:
      plan.isExhausted && (ahead.length === 0 || page.some(({ entry }) => isSeen(entry))),
    fallback,
  };
}

/**
 * Beyond this number of served items, a cursor would be too long, and the session continues as a
 * sweep.
 */
const maxServed = 1_500;
const beforeAll: OrderPlace = { freshSinceMs: Number.MAX_SAFE_INTEGER, serialNumber: 0 };

/**
 * The served items that later pages need to exclude. A sweep has served everything before its
 * place, so it only remembers items after it.
 */
function leftToRemember(
  { index }: ChoiceParts,
  { sweptTo }: FeedSession,
  served: ReadonlySet<number>,
  { chosen }: PagePlan,
): Pick<FeedSession, 'served' | 'sweptTo'> {
  if (sweptTo === null) return { served, sweptTo: served.size > maxServed ? beforeAll : null };
  const to = chosen.at(-1)?.entry ?? sweptTo;
  const isBehind = (serialNumber: number) => {
    const entry = index.find(serialNumber);
    return entry === undefined || byFreshness(to, entry) < 0;
  };
  const { freshSinceMs, serialNumber } = to;
  return {
    served: new Set([...served].filter(isBehind)),
    sweptTo: { freshSinceMs, serialNumber },
  };
}

/**
 * The rest of a long session: newest first, seen or not, each item once. Its place in the order
 * stands for everything before it, so the session can go on indefinitely.
 */
function sweep(
  parts: ChoiceParts,
  served: ReadonlySet<number>,
  { wanted }: PagePlanRequest,
  after: OrderPlace,
): PagePlan {
  const choice = newChoice(parts, { feedId: '', served });
  const chosen: Chosen[] = [];
  const visit = (entry: FeedEntry) => {
    if (choice.takeSeen(entry)) chosen.push({ entry, isExploration: false });
    return chosen.length < wanted;
  };
  visitNewest(parts.index, parts.filter, visit, after);
  return { chosen, isExhausted: chosen.length < wanted };
}

type Fixed = {
  page: Chosen[];
  served: Set<number>;
  used: number;
  /** Number of fixed items that the viewer has since rejected; other items replace them. */
  refused: number;
};

/** The items fixed by the cursor that may still be shown. */
function takeFixed(parts: ChoiceParts, { limit, session }: PageRequest): Fixed {
  const choice = new Choice(parts);
  const served = new Set(session.served);
  const explorations = new Set(session.explorations);
  const { viewer } = parts;
  let refused = 0;
  const page: Chosen[] = [];
  const used = Math.min(limit, session.order.length);
  for (const [place, serialNumber] of session.order.slice(0, used).entries()) {
    const entry = parts.index.find(serialNumber);
    // Items that cannot be presented now are left for a later page.
    if (entry !== undefined && parts.canPresent?.(entry) === false) continue;
    served.add(serialNumber);
    if (entry === undefined) continue;
    if (viewer.isRefused(serialNumber) || viewer.factorOf(entry) < 1) {
      refused += 1;
      continue;
    }
    if (!choice.isEligible(entry)) continue;
    page.push({ entry, isExploration: explorations.has(place) });
  }
  return { page, served, used, refused };
}

function planOrFallBack(
  parts: ChoiceParts,
  { isRanked, session: { feedId } }: PageRequest,
  served: ReadonlySet<number>,
  request: PagePlanRequest,
  onError: (error: unknown) => void,
): { plan: PagePlan; fallback: string | null } {
  const session = { feedId, served };
  if (!isRanked) return { plan: planNewest(newChoice(parts, session), request), fallback: null };
  try {
    keepPool(parts, session);
    return { plan: planItems(newChoice(parts, session), request, session), fallback: null };
  } catch (error) {
    const isSlow = error instanceof RankingTooSlowError;
    if (!isSlow) onError(error);
    const plan = planNewest(newChoice(parts, session), request);
    return { plan, fallback: isSlow ? 'too_slow' : 'failed' };
  }
}

/** A choice that excludes everything the session has been served. */
function newChoice(parts: ChoiceParts, session: Session): Choice {
  const choice = new Choice(parts);
  leaveOutServed(choice, session);
  return choice;
}

/** Newest first, unseen items before seen ones. Used when ranking is off or has failed. */
function planNewest(choice: Choice, { wanted }: PagePlanRequest): PagePlan {
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
