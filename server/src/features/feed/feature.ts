import type { Logger } from 'pino';
import { choice, duration, longestTimer } from '../../platform/settings/config-values.ts';
import type { Db } from '../../platform/database/database.ts';
import { extend } from '../../platform/feature/extension-point.ts';
import { defineFeature } from '../../platform/feature/feature.ts';
import type { Hints } from '../../platform/hints/hints.ts';
import { auditedResources } from '../../platform/http/audited-resource.ts';
import type { ListCursors } from '../../platform/http/list-cursor.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import type { Metrics } from '../../platform/metrics/metrics.ts';
import { setting } from '../../platform/settings/settings.ts';
import type { Signer } from '../../platform/secrets/signing-keys.ts';
import { contentChanged, type MediaUrls } from '../content/content.ts';
import type { EngagementLog, OnEventsStored } from '../events/events.ts';
import type { SignatureReader } from '../keys/keys.ts';
import type { LiveStreams } from '../live/live.ts';
import type { AssignmentSource } from './assignments.ts';
import { feedItems, forgetItemsOfDays } from './credibility/item-projection.ts';
import { FeedIndex } from './items/feed-index.ts';
import { openFeed } from './open-feed.ts';
import { addFeedRoutes } from './routes.ts';
import { auditedRankingConfig, auditedRankingRule } from './settings/audited-config.ts';
import { forgetItemsInRules } from './settings/forget-items.ts';
import { trainDueModels } from './learned/trainer.ts';
import { fitDueTastes } from './taste/fit.ts';
import { forgetItemsOfTaste } from './taste/forget-items.ts';
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
  assignments: AssignmentSource;
  liveStreams: LiveStreams;
  viewerSignatures: SignatureReader;
};

/** The maximum delay until an erasure takes effect. */
const tasteLookMs = 10_000;
const learningLookMs = 5 * 60_000;

export const feed = defineFeature({
  name: 'feed',
  apiTags: {
    Feed: 'The personalized feed.',
    Ranking: 'Ranking of feeds: configuration, rules, preview.',
  },
  areas: { feed: 'feed', ranking: 'feed' },
  settings: {
    feedRanking: setting({
      env: 'REELFEED_FEED_RANKING',
      parse: choice(['on', 'off'] as const),
      fallback: 'on',
      about: 'Whether feeds are ranked. If off, every feed is sorted newest first.',
    }),
    feedRankingBudgetMs: setting({
      env: 'REELFEED_FEED_RANKING_BUDGET',
      parse: duration({ max: longestTimer }),
      fallback: '50ms',
      about: 'Time limit for ranking a feed page. A page that exceeds it is sorted newest first.',
    }),
    learningIntervalMs: setting({
      env: 'REELFEED_LEARNING_INTERVAL',
      parse: duration({ min: '1s', max: longestTimer }),
      fallback: '6h',
      about: 'How often watch time models are trained. Training uses at most 2 % of the time.',
    }),
    tasteIntervalMs: setting({
      env: 'REELFEED_TASTE_INTERVAL',
      parse: duration({ min: '1s', max: longestTimer }),
      fallback: '1m',
      about:
        'How often item similarity is learned from new views. Learning uses at most 5 % of the time.',
    }),
  },
  tables: [
    'feed_viewer',
    'feed_viewer_day',
    'feed_item_day',
    'feed_item_country',
    'ranking_config',
    'ranking_rule',
    'ranking_revision',
    'taste_model',
    'taste_part',
    'watch_model',
  ],
  projections: () => [feedViewers, feedItems],
  extensions: [
    extend(auditedResources, auditedRankingConfig),
    extend(auditedResources, auditedRankingRule),
  ],
  build(parts: Parts, { feedRanking, feedRankingBudgetMs, tasteIntervalMs, learningIntervalMs }) {
    const { db, log, metrics, signer, hints, mediaAccess, eventLog, onEventsStored } = parts;
    const { assignments, liveStreams } = parts;
    return {
      async purgeItems(items, signal) {
        await forgetItemsInRules(db, items);
        await forgetItemsOfViewers(db, items, signal);
        await forgetItemsOfDays(db, items, signal);
        await forgetItemsOfTaste(db, items);
      },
      chores: [
        {
          name: 'fit tastes',
          intervalMs: Math.min(tasteIntervalMs, tasteLookMs),
          run: (signal) => fitDueTastes(db, log, tasteIntervalMs, signal),
        },
        {
          name: 'train watch models',
          intervalMs: Math.min(learningIntervalMs, learningLookMs),
          run: (signal) => trainDueModels({ db, log, eventLog }, learningIntervalMs, signal),
        },
      ],
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
        const { cursors, mutations, viewerSignatures } = parts;
        addFeedRoutes(app, { ...open, db, cursors, mutations, viewerSignatures });
      },
    };
  },
});
