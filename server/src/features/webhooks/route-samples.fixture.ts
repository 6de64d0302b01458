import type { RouteSample } from '../../../test/route-samples.ts';
import type { TestService } from '../../../test/service.ts';

export function routeSamples(service: TestService, url: string): Record<string, RouteSample> {
  const body = { url, events: ['content.ready'], description: 'A sample' };
  const create = async (): Promise<string> => {
    const { body: made } = await service.call('POST', '/v1/webhooks', { body });
    return `/v1/webhooks/${made.data.id}`;
  };
  const tested = async () => {
    const path = await create();
    const test = { body: { event: 'content.ready' } };
    const { body: sent } = await service.call('POST', `${path}/test`, test);
    return { path, deliveryId: String(sent.data.deliveryId) };
  };
  return {
    listWebhooks: async () => ['/v1/webhooks'],
    createWebhook: async () => ['/v1/webhooks', { body }],
    getWebhook: async () => [(await tested()).path],
    updateWebhook: async () => [await create(), { body: { status: 'disabled' } }],
    deleteWebhook: async () => [await create()],
    createWebhookPortalLink: async () => [
      '/v1/webhook-portal-links',
      { body: { customer: 'acme' } },
    ],
    listWebhookPortalLinks: async () => ['/v1/webhook-portal-links'],
    revokeWebhookPortalLink: async () => {
      const link = { body: { customer: 'acme' } };
      const made = await service.call('POST', '/v1/webhook-portal-links', link);
      return [`/v1/webhook-portal-links/${made.body.data.id}`];
    },
    rotateWebhookSecret: async () => [`${await create()}/rotate-secret`],
    testWebhook: async () => [`${await create()}/test`, { body: { event: 'export.ready' } }],
    listWebhookDeliveries: async () => [`${(await tested()).path}/deliveries`],
    listWebhookEvents: async () => ['/v1/webhook-events'],
    listRecentWebhookEvents: async () => [
      `/v1/webhook-events/recent?since=${new Date(Date.now() - 60_000).toISOString()}`,
    ],
    triggerWebhookEvent: async () => [
      '/v1/webhook-events/trigger',
      { body: { event: 'export.ready' } },
    ],
    getWebhookDelivery: async () => {
      const { path, deliveryId } = await tested();
      return [`${path}/deliveries/${deliveryId}`];
    },
    recoverWebhookDeliveries: async () => [
      `${await create()}/recover`,
      { body: { since: new Date(Date.now() - 60_000).toISOString() } },
    ],
    retryWebhookDelivery: async () => {
      const { path, deliveryId } = await tested();
      return [`${path}/deliveries/${deliveryId}/retry`];
    },
    replayWebhookEvents: async () => [
      `${await create()}/replay`,
      { body: { since: new Date(Date.now() - 60_000).toISOString() } },
    ],
  };
}
