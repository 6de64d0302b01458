/** The feed: what a viewer sees next. */
import type { Device } from '@reelfeed/client/assignment';
import type { Logger } from 'pino';
import { byDeadline } from '../../platform/async/by-deadline.ts';
import { ApiError } from '../../platform/http/errors.ts';
import { newTypeId, type OrganizationId } from '../../platform/values/ids.ts';
import type { ViewerIds } from '../analytics/analytics.ts';
import { notAssigned, type Assign, type Assignment } from './assignments.ts';
import type { FeedCursors, FeedSession } from './feed-cursor.ts';
import type { Hydrated, Hydrator } from './hydrate.ts';
import type { FeedEntry } from './items/feed-entry.ts';
import type { FeedIndex, FeedView } from './items/feed-index.ts';
import type { LiveState, LiveStreams } from '../live/live.ts';
import { takePage, type PageRequest, type Taken } from './page.ts';
import { presentPage } from './present.ts';
import { Choice, type ChoiceParts } from './ranking/choice.ts';
import { EditorialRules } from './ranking/editorial.ts';
import type { FeedFilter } from './ranking/filter.ts';
import { explain } from './ranking/rank.ts';
import type { RankingConfig } from './ranking/config.ts';
import { scorerOf } from './learned/model-state.ts';
import { overlayWeights } from './ranking/weights.ts';
import type { RankingSettings, SettingsReader } from './settings/ranking-settings.ts';
import { unknownViewer, type ViewerProfiles } from './viewers/viewer-profiles.ts';
import type { ViewerProfile } from './viewers/viewer-profile.ts';

export { signalNames, signals } from './ranking/signals/table.ts';
export { problemsOfPartialWeights } from './ranking/weights.ts';

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
  hydrator: Hydrator;
  profiles: ViewerProfiles;
  settings: SettingsReader;
  assign: Assign;
  liveStreams: LiveStreams;
  log: Logger;
  /** If false, every page is newest first. */
  isRanked: boolean;
  /** Time limit for ranking. A page that takes longer is served newest first. */
  rankingBudgetMs: number;
  onFallback: (reason: string) => void;
};

/**
 * The index polls the database four times a second; after this long without a response, the
 * database may be down.
 */
const awayAfterMs = 750;
/** The longest a page waits for anything that is not in memory. */
const longestWaitMs = 1_000;

export const largestPage = 50;

/**
 * Reads one page of the feed as JSON bytes: skeleton → rank → rules → hydrate → present. The cursor
 * fixes the next page, so nothing repeats while items, likes and schedules change. Items that may
 * no longer be shown are left out, even if the cursor lists them.
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
  // Don't wait for a database that is down, but do wait for a slow one, so that pages stay
  // complete.
  const patienceMs = view.ageMs > awayAfterMs ? parts.rankingBudgetMs : longestWaitMs;
  const { choice, assignment, isKnown } = await prepareChoice(parts, request, view, patienceMs);
  const active = await parts.liveStreams.active(organizationId);
  const pageRequest: PageRequest = {
    limit: request.limit,
    session,
    live: activeOf(view, active),
    isRanked: parts.isRanked && isKnown,
  };
  const { taken, items } = await takePresentable(
    parts,
    choice,
    pageRequest,
    organizationId,
    patienceMs,
  );
  const fallback = parts.isRanked && !isKnown ? 'viewer_unknown' : taken.fallback;
  if (fallback !== null) parts.onFallback(fallback);
  const explanations = request.explain ? explainPage(choice, taken.page, fallback, active) : null;
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

/**
 * Takes a page and reads its items. If some cannot be read in time, takes the page again from items
 * that are in memory.
 *
 * @throws ApiError UNAVAILABLE if none of its items are in memory
 */
async function takePresentable(
  parts: FeedParts,
  choice: ChoiceParts,
  request: PageRequest,
  organizationId: OrganizationId,
  patienceMs: number,
): Promise<{ taken: Taken; items: Hydrated }> {
  const onError = (error: unknown) =>
    parts.log.error({ err: error, organizationId }, 'a feed page could not be ranked');
  const taken = takePage(choice, request, onError);
  const items = await readItems(parts, organizationId, taken, patienceMs);
  if (!items.includes(undefined)) return { taken, items };
  const fromMemory = { ...choice, canPresent: (entry: FeedEntry) => parts.hydrator.knows(entry) };
  const again = takePage(fromMemory, request, onError);
  if (again.page.length === 0) throw new ApiError('UNAVAILABLE');
  return { taken: again, items: await readItems(parts, organizationId, again, 0) };
}

async function readItems(
  { hydrator, liveStreams, rankingBudgetMs }: FeedParts,
  organizationId: OrganizationId,
  { page }: Taken,
  patienceMs: number,
): Promise<Hydrated> {
  const now = performance.now();
  const entries = page.map(({ entry }) => entry);
  const deadline = now + patienceMs;
  const live =
    (await byDeadline(liveStreams.ofItems(organizationId, entries), deadline)) ?? noStreams;
  const numbersDeadline = now + Math.min(patienceMs, rankingBudgetMs);
  return hydrator.read({ organizationId, entries, live, deadline, numbersDeadline });
}

const noStreams: ReadonlyMap<string, LiveState> = new Map();

function newSession(): FeedSession {
  return {
    feedId: newTypeId('fed'),
    planned: 0,
    order: [],
    explorations: [],
    served: new Set(),
    sweptTo: null,
  };
}

/** Collects the input of a choice; `isKnown` is false if the viewer could not be read in time. */
async function prepareChoice(
  parts: FeedParts,
  request: FeedRequest,
  view: FeedView,
  patienceMs: number,
): Promise<{ choice: ChoiceParts; assignment: Assignment; isKnown: boolean }> {
  const { organizationId, viewer: ids } = request;
  const now = performance.now();
  const settings =
    parts.settings.find(organizationId) ??
    (await loadSettings(parts.settings, organizationId, now + patienceMs));
  const deadline = now + parts.rankingBudgetMs;
  const found =
    parts.profiles.find(organizationId, ids) ??
    (await loadInTime(parts, request, view, deadline)) ??
    parts.profiles.findOld(organizationId, ids);
  const viewer = found ?? unknownViewer;
  const country = request.country ?? viewer.country;
  const assigning = parts.assign(organizationId, ids, {
    country,
    device: request.device,
    segments: request.segments,
    weightsSetAtMs: settings.setAtMs,
  });
  const assignment = (await byDeadline(assigning, now + patienceMs)) ?? notAssigned;
  const { config } = settings;
  const effective: RankingConfig = {
    ...config,
    weights: overlayWeights(config.weights, assignment.rankingWeights ?? {}),
    objective: assignment.rankingObjective ?? config.objective,
  };
  return {
    choice: {
      index: view.index,
      viewer,
      config: effective,
      scorer: scorerOf(effective, settings.watchModel, view.nowMs),
      rules: new EditorialRules(settings.rules, view.nowMs),
      filter: request.filter,
      excludedIds: request.excludedIds,
      canPresent: null,
      country,
      nowMs: view.nowMs,
      random: Math.random,
      deadline,
    },
    assignment,
    isKnown: found !== null,
  };
}

/** @throws ApiError UNAVAILABLE if the settings were never read */
async function loadSettings(
  settings: SettingsReader,
  organizationId: OrganizationId,
  deadline: number,
): Promise<RankingSettings> {
  const old = settings.findOld(organizationId);
  const loading = settings.of(organizationId).catch((error: unknown) => {
    if (old === null) throw error;
    return old;
  });
  const loaded = (await byDeadline(loading, deadline)) ?? old;
  if (loaded === null) throw new ApiError('UNAVAILABLE');
  return loaded;
}

/** The viewer's profile, or null if it could not be read before the deadline. */
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
  return byDeadline(loading, deadline);
}

/** Entries of streams that are currently live, most viewers first. */
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
