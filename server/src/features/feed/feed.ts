/** The feed: what a viewer sees next. */
import type { Device } from '@reelfeed/client/assignment';
import type { Logger } from 'pino';
import { newTypeId, type OrganizationId } from '../../platform/ids.ts';
import type { ViewerIds } from '../analytics/analytics.ts';
import type { Assign, Assignment } from './assignments.ts';
import type { FeedCursors, FeedSession } from './feed-cursor.ts';
import type { Hydrator } from './hydrate.ts';
import type { FeedEntry } from './items/feed-entry.ts';
import type { FeedIndex, FeedView } from './items/feed-index.ts';
import type { LiveState, LiveStreams } from '../live/live.ts';
import { takePage } from './page.ts';
import { presentPage } from './present.ts';
import { Choice, type ChoiceParts } from './ranking/choice.ts';
import { EditorialRules } from './ranking/editorial.ts';
import type { FeedFilter } from './ranking/filter.ts';
import { explain } from './ranking/rank.ts';
import { mergeWeights } from './ranking/weights.ts';
import type { SettingsReader } from './settings/ranking-settings.ts';
import { unknownViewer, type ViewerProfiles } from './viewers/viewer-profiles.ts';
import type { ViewerProfile } from './viewers/viewer-profile.ts';

export type FeedRequest = {
  organizationId: OrganizationId;
  limit: number;
  cursor: string | null;
  filter: FeedFilter;
  excludedIds: ReadonlySet<string>;
  explain: boolean;
  viewer: ViewerIds;
  country: string | null;
  device: Device | null;
  segments: readonly string[];
};

export type FeedParts = {
  index: FeedIndex;
  feedCursors: FeedCursors;
  hydrate: Hydrator;
  profiles: ViewerProfiles;
  settings: SettingsReader;
  assign: Assign;
  liveStreams: LiveStreams;
  log: Logger;
  /** If false, every page is newest first. */
  isRanked: boolean;
  /** Time limit of ranking. A page that takes longer is served newest first. */
  rankingBudgetMs: number;
  onFallback: (reason: string) => void;
};

/** The largest page. */
export const largestPage = 50;

/**
 * One page of the feed as the bytes of its JSON: skeleton → rank → rules → hydrate → present. The
 * cursor fixes the next page, so nothing repeats while items, likes and schedules change; an item that
 * may not be shown any more is left out, whatever a cursor says.
 *
 * @throws ApiError INVALID_CURSOR, UNAVAILABLE
 */
export async function readFeedPage(
  parts: FeedParts,
  request: FeedRequest,
  requestId: string,
): Promise<Buffer> {
  const { organizationId } = request;
  const scope = { organizationId, filter: request.filter };
  const session: FeedSession =
    request.cursor === null ? newSession() : parts.feedCursors.decode(scope, request.cursor);
  const view = await parts.index.view(organizationId);
  const { choice, assignment, isKnown } = await prepareChoice(parts, request, view);
  const active = await parts.liveStreams.active(organizationId);
  const taken = takePage(
    choice,
    {
      limit: request.limit,
      session,
      live: activeOf(view, active),
      isRanked: parts.isRanked && isKnown,
    },
    (error) => parts.log.error({ err: error, organizationId }, 'a feed page could not be ranked'),
  );
  const fallback = parts.isRanked && !isKnown ? 'viewer_unknown' : taken.fallback;
  if (fallback !== null) parts.onFallback(fallback);
  const entries = taken.page.map(({ entry }) => entry);
  const explanations = request.explain ? explainPage(choice, taken.page, fallback, active) : null;
  const streams = entries.filter(({ contentType }) => contentType === 'live_stream');
  const ids = streams.map(({ contentId }) => contentId);
  const live = await parts.liveStreams.ofItems(organizationId, ids);
  const items = await parts.hydrate(organizationId, entries, live);
  const hasMore = taken.next.order.length > 0;
  const nextCursor = hasMore ? parts.feedCursors.encode(scope, taken.next) : null;
  return presentPage(items, {
    requestId,
    feedId: session.feedId,
    nextCursor,
    isExhausted: taken.isExhausted,
    experiments: assignment.experiments,
    explanations,
  });
}

function newSession(): FeedSession {
  return { feedId: newTypeId('fed'), planned: 0, order: [], explorations: [], served: new Set() };
}

/** Gathers what a choice needs; `isKnown` is false when the viewer could not be read in time. */
async function prepareChoice(
  parts: FeedParts,
  request: FeedRequest,
  view: FeedView,
): Promise<{ choice: ChoiceParts; assignment: Assignment; isKnown: boolean }> {
  const { organizationId, viewer: ids } = request;
  const deadline = performance.now() + parts.rankingBudgetMs;
  const settings = await parts.settings.of(organizationId);
  const found =
    parts.profiles.find(organizationId, ids) ?? (await loadInTime(parts, request, view, deadline));
  const viewer = found ?? parts.profiles.findOld(organizationId, ids) ?? unknownViewer;
  const country = request.country ?? viewer.country;
  const assignment = await parts.assign(organizationId, ids, {
    country,
    device: request.device,
    segments: request.segments,
    weightsSetAtMs: settings.setAtMs,
  });
  const { config } = settings;
  const weights = mergeWeights(config.weights, assignment.rankingWeights ?? {});
  return {
    choice: {
      index: view.index,
      viewer,
      config: { ...config, weights },
      rules: new EditorialRules(settings.rules, view.nowMs),
      filter: request.filter,
      excludedIds: request.excludedIds,
      country,
      nowMs: view.nowMs,
      random: Math.random,
      deadline,
    },
    assignment,
    isKnown: found !== null,
  };
}

/** The viewer's profile; null when it could not be read before the deadline. */
async function loadInTime(
  { profiles, log }: FeedParts,
  { organizationId, viewer }: FeedRequest,
  { index }: FeedView,
  deadline: number,
): Promise<ViewerProfile | null> {
  const loading = profiles.load(organizationId, viewer, index).catch((error: unknown) => {
    log.info({ err: error, organizationId }, 'a viewer could not be read');
    return null;
  });
  const { promise: tooLate, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(() => resolve(null), Math.max(0, deadline - performance.now()));
  try {
    return await Promise.race([loading, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

/** Entries of streams that are live now, those with the most viewers first. */
function activeOf({ index }: FeedView, live: ReadonlyMap<string, LiveState>): FeedEntry[] {
  if (live.size === 0) return [];
  return [...live]
    .toSorted(([, a], [, b]) => b.currentViewers - a.currentViewers)
    .flatMap(([contentId]) => index.findById(contentId) ?? []);
}

function explainPage(
  parts: ChoiceParts,
  page: ReturnType<typeof takePage>['page'],
  fallback: string | null,
  live: ReadonlyMap<string, LiveState>,
) {
  const choice = new Choice(parts);
  return page.map(({ entry, isExploration }) => {
    const isLive = live.has(entry.contentId);
    const reasons = [
      ...(fallback === null ? [] : ['fallback']),
      ...(isLive ? ['live'] : []),
      ...(parts.rules.isPinned(entry) ? ['pinned'] : []),
      ...(isExploration ? ['exploration'] : []),
    ];
    return explain(choice, entry, reasons);
  });
}
