import type { RouteSample } from '../../../test/route-samples.ts';
import type { TestService } from '../../../test/service.ts';

export function routeSamples(service: TestService): Record<string, RouteSample> {
  let count = 0;
  const create = async (): Promise<string> => {
    count += 1;
    const body = { name: `sample_${count}`, type: 'count', event: 'custom.signup' };
    const made = await service.call('POST', '/v1/metrics', { body });
    return `/v1/metrics/${made.body.data.id}`;
  };
  return {
    createMetric: async () => [
      '/v1/metrics',
      {
        body: {
          name: 'revenue',
          description: 'What participants spend in a week.',
          type: 'sum',
          event: 'custom.purchase',
          field: 'amount',
          where: [{ field: 'currency', operator: 'eq', value: 'EUR' }],
          windowHours: 168,
          cap: 500,
        },
      },
    ],
    listMetrics: async () => {
      await create();
      return ['/v1/metrics'];
    },
    deleteMetric: async () => [await create()],
  };
}
