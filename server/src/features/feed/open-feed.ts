/** The feed as one resource: opens and closes everything its routes need. */
import type { Logger } from 'pino';
import type { Db } from '../../platform/database/database.ts';
import type { Metrics } from '../../platform/metrics/metrics.ts';
import type { Signer } from '../../platform/secrets/signing-keys.ts';
import { ItemTotalsReader } from '../analytics/analytics.ts';
import type { MediaUrls } from '../content/content.ts';
import type { EngagementLog, StoredEvents } from '../events/events.ts';
import { noAssignments, type Assign } from './assignments.ts';
import { createFeedCursors } from './feed-cursor.ts';
import type { FeedParts } from './feed.ts';
import { createHydrator } from './hydrate.ts';
import type { FeedIndex } from './items/feed-index.ts';
import { StatisticsKeeper } from './items/statistics-keeper.ts';
import type { LiveStreams } from '../live/live.ts';
import { SettingsReader } from './settings/ranking-settings.ts';
import { TasteKeeper } from './taste/taste-keeper.ts';
import { EventFollower } from './viewers/event-follower.ts';
import { ViewerProfiles } from './viewers/viewer-profiles.ts';

export type FeedOptions = {
  readonly db: Db;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly signer: Signer;
  readonly urls: MediaUrls;
  readonly index: FeedIndex;
  readonly eventLog: EngagementLog;
  readonly isRanked: boolean;
  readonly rankingBudgetMs: number;
  readonly assign?: Assign;
  readonly liveStreams: LiveStreams;
};

export type OpenFeed = FeedParts &
  AsyncDisposable & {
    /** Receives events that this process has just stored, before their requests are answered. */
    eventsStored(blocks: readonly StoredEvents[]): void;
  };

export function openFeed(options: FeedOptions): OpenFeed {
  const { db, log, metrics, signer, urls, index, eventLog } = options;
  const stack = new AsyncDisposableStack();
  const profiles = new ViewerProfiles(db);
  const settings = stack.use(new SettingsReader(db, log));
  const keeper = stack.use(new StatisticsKeeper(db, index));
  const tastes = stack.use(new TasteKeeper(db, index, log));
  const follower = stack.use(new EventFollower({ db, log, eventLog, indexes: index, profiles }));
  index.prepareWith(
    async (organizationId, loaded) => {
      await keeper.loadFirst(organizationId, loaded);
      await tastes.load(organizationId, loaded);
    },
    // Runs synchronously, so that no event is buffered for an index that is already known.
    (organizationId, loaded) => follower.loaded(organizationId, loaded),
  );
  collectFeedMetrics(metrics, profiles);
  const fallbacks = metrics.counter({
    name: 'feed_fallbacks_total',
    help: 'Feed pages sorted newest first because they could not be ranked in time.',
    labels: ['reason'],
  });
  return {
    index,
    feedCursors: createFeedCursors(signer),
    hydrator: createHydrator(db, urls, new ItemTotalsReader(db)),
    profiles,
    settings,
    assign: options.assign ?? noAssignments,
    liveStreams: options.liveStreams,
    log,
    isRanked: options.isRanked,
    rankingBudgetMs: options.rankingBudgetMs,
    onFallback: (reason) => fallbacks.add(1, { reason }),
    eventsStored: (blocks) => follower.stored(blocks),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

function collectFeedMetrics(metrics: Metrics, profiles: ViewerProfiles): void {
  metrics.collected({
    type: 'gauge',
    name: 'feed_viewers_in_memory',
    help: 'Viewer profiles in memory, their contents, and events not yet projected.',
    labels: ['what'],
    collect: () =>
      Object.entries(profiles.sizes).map(([what, value]) => ({ labels: { what }, value })),
  });
}
