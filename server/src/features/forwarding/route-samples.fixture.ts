/** A successful request for each event forwarding route. */
import type { RouteSample } from '../../../test/route-samples.ts';
import type { TestService } from '../../../test/service.ts';

export function routeSamples(
  service: TestService,
  receiverUrl: string,
): Record<string, RouteSample> {
  const path = '/v1/event-forwardings';
  const newBody = async () => {
    const body = { url: receiverUrl, events: ['events.batch'] };
    const made = await service.call('POST', '/v1/webhooks', { body });
    return { webhookId: made.body.data.id, kinds: ['playStart', 'like', 'custom.*'] };
  };
  const create = async () => {
    const made = await service.call('POST', path, { body: await newBody() });
    return `${path}/${made.body.data.id}`;
  };
  return {
    createEventForwarding: async () => [path, { body: await newBody() }],
    listEventForwardings: async () => {
      await create();
      return [path];
    },
    deleteEventForwarding: async () => [await create()],
  };
}
