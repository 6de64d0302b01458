/** Compares what a viewer would see under several configurations. */
import { findItems } from '../../content/content.ts';
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import type { ViewerIds } from '../../analytics/analytics.ts';
import type { FeedIndex } from '../items/feed-index.ts';
import { Choice, type ChoiceParts } from '../ranking/choice.ts';
import type { RankingConfig } from '../ranking/config.ts';
import { EditorialRules } from '../ranking/editorial.ts';
import { noFilter } from '../ranking/filter.ts';
import { planItems } from '../ranking/order.ts';
import { noAuthor } from '../ranking/picker.ts';
import { explain } from '../ranking/rank.ts';
import { scorerOf } from '../learned/model-state.ts';
import type { ViewerProfiles } from '../viewers/viewer-profiles.ts';
import type { RankingSettings } from './ranking-settings.ts';

export type PreviewParts = {
  readonly db: Db;
  readonly index: FeedIndex;
  readonly profiles: ViewerProfiles;
};

export type PreviewRequest = {
  readonly organizationId: OrganizationId;
  readonly viewer: ViewerIds;
  readonly limit: number;
  readonly settings: RankingSettings;
  readonly configs: readonly RankingConfig[];
};

/**
 * Explorations use the same random draws for each configuration, so that only the configurations
 * differ.
 */
export async function previewFeeds(parts: PreviewParts, request: PreviewRequest) {
  const { organizationId, viewer: ids, limit, settings, configs } = request;
  const { index, nowMs } = await parts.index.view(organizationId);
  const viewer =
    parts.profiles.find(organizationId, ids) ??
    (await parts.profiles.load(organizationId, ids, index));
  const feeds = configs.map((config) => {
    const choiceParts: ChoiceParts = {
      index,
      viewer,
      config,
      scorer: scorerOf(config, settings.watchModel, nowMs),
      rules: new EditorialRules(settings.rules, nowMs),
      filter: noFilter,
      excludedIds: new Set(),
      canPresent: null,
      country: viewer.country,
      nowMs,
      random: sameDraws(),
      deadline: Infinity,
    };
    const choice = new Choice(choiceParts);
    const planned = { wanted: limit, position: 0, previousAuthor: noAuthor, live: [] };
    const items = planItems(choice, planned).chosen.map(({ entry }) => {
      const { score, signals } = explain(choice, entry, []);
      return { contentId: entry.contentId, score, signals };
    });
    return { config, items };
  });
  const shown = feeds.flatMap(({ items }) => items.map(({ contentId }) => contentId));
  const rows = await findItems(parts.db, organizationId, [...new Set(shown)]);
  const titles = new Map(rows.map((row) => [row.content_id, row.title]));
  return {
    feeds: feeds.map(({ config, items }) => ({
      config,
      items: items.flatMap((item) => {
        const title = titles.get(item.contentId);
        // The item has been deleted in the meantime.
        return title === undefined ? [] : [{ ...item, title }];
      }),
    })),
  };
}

/**
 * A reproducible sequence of numbers from 0 to 1 (mulberry32, by Tommy Ettinger, public domain).
 */
function sameDraws(): () => number {
  let state = 0x5eed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
