import type { RouteSample } from '../../../test/route-samples.ts';
import { createReadyItems } from '../../../test/seed.ts';
import type { TestService } from '../../../test/service.ts';

export function routeSamples(service: TestService): Record<string, RouteSample> {
  const config = { weights: { recency: 0.5 }, exploration: 0.2 };
  const rule = { type: 'boost', match: { tags: ['news'] }, factor: 2 };
  const createRule = async (): Promise<string> => {
    const made = await service.call('POST', '/v1/ranking/rules', { body: rule });
    return `/v1/ranking/rules/${made.body.data.id}`;
  };
  return {
    listSimilarContent: async () => {
      const tags = ['similar'];
      const [id = ''] = await createReadyItems(service, 3, () => ({ tags }));
      return [`/v1/content/${id}/similar?limit=2`];
    },
    getFeedItem: async () => {
      const [id = ''] = await createReadyItems(service, 1);
      return [`/v1/feed/items/${id}`];
    },
    listViewerReactions: async () => {
      const [id = ''] = await createReadyItems(service, 1);
      return [`/v1/feed/reactions?userId=ada&contentIds=${id}`];
    },
    listRankingSignals: async () => ['/v1/ranking/signals'],
    getRankingConfig: async () => ['/v1/ranking/config'],
    replaceRankingConfig: async () => ['/v1/ranking/config', { body: config }],
    listRankingConfigVersions: async () => ['/v1/ranking/config/versions'],
    restoreRankingConfigVersion: async () => {
      const made = await service.call('PUT', '/v1/ranking/config', { body: config });
      return [`/v1/ranking/config/versions/${made.body.data.version}/restore`];
    },
    listRankingRules: async () => ['/v1/ranking/rules'],
    createRankingRule: async () => ['/v1/ranking/rules', { body: rule }],
    updateRankingRule: async () => [await createRule(), { body: { factor: 3 } }],
    deleteRankingRule: async () => [await createRule()],
    previewRanking: async () => [
      '/v1/ranking/preview',
      { body: { userId: 'ada', configs: [{}, { diversity: 1 }] } },
    ],
  };
}
