import { Type } from 'typebox';
import { Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts';
import { webhookEvent, type EventsOf } from './outbox/event-declarations.ts';

const at = '2026-01-31T12:00:00.000Z';

export const endpointEvents = {
  'webhook.disabled': webhookEvent(
    'A webhook of the organization was disabled because all its deliveries failed.',
    Type.Object({
      webhookId: Type.String(),
      host: Type.String({ description: 'Host of its URL.' }),
      description: Nullable(Type.String()),
      reason: OneOf(['failing'] as const),
      failingSince: Timestamp,
      disabledAt: Timestamp,
    }),
    {
      webhookId: 'whk_00000000000000000000000000',
      host: 'example.com',
      description: null,
      reason: 'failing',
      failingSince: at,
      disabledAt: '2026-02-05T12:00:00.000Z',
    },
  ),
};

declare module './webhooks.ts' {
  interface EventData extends EventsOf<typeof endpointEvents> {}
}
