import type { RouteSample } from '../../../test/route-samples.ts';
import { createItem } from '../../../test/seed.ts';
import type { TestService } from '../../../test/service.ts';

export function routeSamples(service: TestService): Record<string, RouteSample> {
  const days = 'startDate=2026-01-01&endDate=2026-01-31';
  return {
    getAnalyticsOverview: async () => [`/v1/analytics/overview?granularity=hour`],
    getAudienceAnalytics: async () => [`/v1/analytics/audience?${days}`],
    listContentAnalytics: async () => [`/v1/analytics/content?sort=completionRate&limit=2`],
    getContentAnalytics: async () => [
      `/v1/analytics/content/${(await createItem(service)).id}?${days}&granularity=week`,
    ],
    getEngagementAnalytics: async () => [`/v1/analytics/engagement?segment=tag`],
    getQualityAnalytics: async () => [`/v1/analytics/quality`],
    getMovers: async () => ['/v1/analytics/movers?direction=up&limit=3'],
    getTrafficSources: async () => [`/v1/analytics/sources?${days}`],
    getContentBenchmark: async () => [
      `/v1/analytics/content/${(await createItem(service)).id}/benchmark`,
    ],
    getViewerAnalytics: async () => [`/v1/analytics/viewers?${days}`],
    getHourAnalytics: async () => ['/v1/analytics/hours'],
    getRealtimeAnalytics: async () => ['/v1/analytics/realtime'],
    getRetentionAnalytics: async () => [`/v1/analytics/retention?${days}`],
  };
}
