import type { Logger } from 'pino';
import { choice, duration, longestTimer } from '../../platform/config-values.ts';
import type { Db } from '../../platform/database/database.ts';
import { defineFeature } from '../../platform/feature.ts';
import type { Hints } from '../../platform/hints.ts';
import type { ListCursors } from '../../platform/http/list-cursor.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { setting } from '../../platform/settings.ts';
import type { Signer } from '../../platform/signing-keys.ts';
import { contentChanged, type MediaUrls } from '../content/content.ts';
import type { EngagementLog, OnEventsStored } from '../events/events.ts';
import type { Assignments } from '../experiments/experiments.ts';
import type { LiveStreams } from '../live/live.ts';
import { FeedIndex } from './items/feed-index.ts';
import { openFeed } from './open-feed.ts';
import { addFeedRoutes } from './routes.ts';
import { forgetItemsInRules } from './settings/forget-items.ts';
import { forgetItemsOfViewers } from './viewers/forget-items.ts';
import { feedViewers } from './viewers/viewer-projection.ts';

type Parts = {
  db: Db;
  log: Logger;
  metrics: Metrics;
  signer: Signer;
  hints: Hints;
  cursors: ListCursors;
  mutations: Mutations;
  mediaAccess: MediaUrls;
  eventLog: EngagementLog;
  onEventsStored: OnEventsStored;
  assignments: Assignments;
  liveStreams: LiveStreams;
};

export const feed = defineFeature({
  name: 'feed',
  apiTags: {
    Feed: 'What a viewer sees next.',
    Ranking: 'How feeds are ranked: configuration, rules, preview.',
  },
  settings: {
    feedRanking: setting({
      env: 'REELFEED_FEED_RANKING',
      parse: choice(['on', 'off'] as const),
      fallback: 'on',
      about: 'Whether feeds are ranked. If off, every feed is served newest first.',
    }),
    feedRankingBudgetMs: setting({
      env: 'REELFEED_FEED_RANKING_BUDGET',
      parse: duration({ max: longestTimer }),
      fallback: '50ms',
      about: 'A feed page that is not ranked after this long is served newest first.',
    }),
  },
  tables: ['feed_viewer', 'ranking_config', 'ranking_rule', 'ranking_revision'],
  projections: () => [feedViewers],
  build(parts: Parts, { feedRanking, feedRankingBudgetMs }) {
    const { db, log, metrics, signer, hints, mediaAccess, eventLog, onEventsStored } = parts;
    const { assignments, liveStreams } = parts;
    return {
      async purgeItems(items, signal) {
        await forgetItemsInRules(db, items);
        await forgetItemsOfViewers(db, items, signal);
      },
      routes(app, opened) {
        const index = opened.use(new FeedIndex(db, log));
        hints.listen(contentChanged, () => index.markChanged());
        const open = opened.use(
          openFeed({
            db,
            log,
            metrics,
            signer,
            urls: mediaAccess,
            index,
            eventLog,
            liveStreams,
            isRanked: feedRanking === 'on',
            rankingBudgetMs: feedRankingBudgetMs,
            assign: (organizationId, viewer, audience) =>
              assignments.forFeed(organizationId, viewer, audience, audience.weightsSetAtMs),
          }),
        );
        opened.defer(onEventsStored((blocks) => open.eventsStored(blocks)));
        addFeedRoutes(app, { ...open, db, cursors: parts.cursors, mutations: parts.mutations });
      },
    };
  },
});
