import type { RouteSample } from '../../../test/route-samples.ts';
import type { TestService } from '../../../test/service.ts';

export function routeSamples(service: TestService): Record<string, RouteSample> {
  const rule = {
    report: 'quality',
    metric: 'errorRate',
    filter: { device: 'android', appVersion: '2.4.1' },
    condition: { type: 'band', direction: 'above' },
    minData: 200,
  };
  const create = async (): Promise<string> => {
    const body = { name: 'Errors on Android', ...rule };
    const made = await service.call('POST', '/v1/analytics/alerts', { body });
    return `/v1/analytics/alerts/${made.body.data.id}`;
  };
  return {
    createAlert: async () => ['/v1/analytics/alerts', { body: { name: 'Errors', ...rule } }],
    listAlerts: async () => ['/v1/analytics/alerts'],
    getAlert: async () => [await create()],
    updateAlert: async () => [await create(), { body: { isEnabled: false } }],
    deleteAlert: async () => [await create()],
    testAlert: async () => ['/v1/analytics/alerts/test', { body: { ...rule, days: 14 } }],
    listAlertEvents: async () => [`${await create()}/events`],
  };
}
