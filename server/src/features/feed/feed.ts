/** The feed: what a viewer sees next. */
import { newTypeId, type OrganizationId } from '../../platform/ids.ts';
import { isDue } from './feed-entry.ts';
import type { FeedCursors, FeedSession } from './feed-cursor.ts';
import type { FeedIndex, FeedView } from './feed-index.ts';
import type { Hydrator } from './hydrate.ts';
import { applyRules, rank, skeleton, type FeedFilter, type RankedEntry } from './pipeline.ts';
import { presentPage } from './present.ts';

export type FeedRequest = {
  organizationId: OrganizationId;
  limit: number;
  cursor: string | null;
  filter: FeedFilter;
  excludedIds: ReadonlySet<string>;
  explain: boolean;
};

export type FeedParts = { index: FeedIndex; cursors: FeedCursors; hydrate: Hydrator };

/** Items ordered ahead: those of a page and of the pages after it. */
const orderedAhead = 200;
/** The largest page: a cursor holds at least one, so that it gives the same page each time. */
export const largestPage = 50;

/**
 * One page of the feed as the bytes of its JSON. The first page fixes an order that later pages
 * follow, so nothing repeats while items and schedules change; an item that may not be shown any
 * more is left out, whatever a cursor says.
 *
 * @throws ApiError INVALID_CURSOR, UNAVAILABLE
 */
export async function readFeedPage(
  parts: FeedParts,
  request: FeedRequest,
  requestId: string,
): Promise<Buffer> {
  const { organizationId, filter } = request;
  const scope = { organizationId, filter };
  const session: FeedSession =
    request.cursor === null
      ? { feedId: newTypeId('fed'), order: [], served: new Set() }
      : parts.cursors.decode(scope, request.cursor);
  const view = await parts.index.view(organizationId);
  const { page, next } = takePage(view, request, session);
  const items = await parts.hydrate(
    organizationId,
    page.map(({ entry }) => entry),
  );
  const hasMore = next.order.length > 0;
  const nextCursor = hasMore ? parts.cursors.encode(scope, next) : null;
  return presentPage(page, items, {
    requestId,
    feedId: session.feedId,
    nextCursor,
    explain: request.explain,
  });
}

type Taken = { page: RankedEntry[]; next: FeedSession };

/**
 * Takes the next items of the session's order, and orders more for the pages after it. What a
 * cursor gives is in the cursor: a page is never filled up with items that came later, so reading
 * it again gives the same one, less what may not be shown any more.
 */
function takePage(view: FeedView, request: FeedRequest, session: FeedSession): Taken {
  const isFirst = request.cursor === null;
  const order = isFirst ? orderMore(view, request, [], session.served) : session.order;
  const served = new Set(session.served);
  const page: RankedEntry[] = [];
  let used = 0;
  while (page.length < request.limit && used < order.length) {
    const serialNumber = order[used] ?? -1;
    used += 1;
    served.add(serialNumber);
    const entry = view.index.find(serialNumber);
    if (entry === undefined || !isDue(entry, view.nowMs)) continue;
    if (!request.excludedIds.has(entry.contentId)) page.push(...rank([entry], view.nowMs));
  }
  const rest = order.slice(used);
  const ahead = rest.length < largestPage ? orderMore(view, request, rest, served) : rest;
  return { page, next: { feedId: session.feedId, order: ahead, served } };
}

function orderMore(
  view: FeedView,
  request: FeedRequest,
  order: readonly number[],
  served: ReadonlySet<number>,
): readonly number[] {
  const { excludedIds } = request;
  const taken = new Set([...served, ...order]);
  const wanted = orderedAhead - order.length;
  // As many more as the rules may leave out, so that exclusions alone never end a feed.
  const candidates = skeleton(view, request.filter, taken, wanted + excludedIds.size);
  const more = applyRules(rank(candidates, view.nowMs), excludedIds).slice(0, wanted);
  return [...order, ...more.map(({ entry }) => entry.serialNumber)];
}
