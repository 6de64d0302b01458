import type { RouteSample } from '../../../test/route-samples.ts';

export function routeSamples(): Record<string, RouteSample> {
  return {
    askFunnel: async () => [
      '/v1/analytics/funnels',
      { body: { steps: [{ event: 'impression' }, { event: 'playStart' }, { event: 'like' }] } },
    ],
    askPaths: async () => ['/v1/analytics/paths', { body: { anchor: { event: 'playStart' } } }],
    askCohorts: async () => [
      '/v1/analytics/cohorts',
      { body: { by: 'event', granularity: 'week' } },
    ],
    askCustom: async () => ['/v1/analytics/custom', { body: { events: { event: 'share' } } }],
  };
}
