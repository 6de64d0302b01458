/** Webhook events that carry forwarded events. */
import { Type } from 'typebox';
import { Timestamp } from '../../platform/http/schemas.ts';
import { webhookEvent, type EventsOf } from '../webhooks/webhooks.ts';

export const ForwardedEvent = Type.Object({
  eventId: Type.String({ description: 'Unique in the organization.' }),
  event: Type.String({ description: 'The kind.' }),
  contentId: Type.String(),
  timestamp: Timestamp,
  receivedAt: Timestamp,
  userId: Type.Optional(Type.String()),
  deviceId: Type.Optional(Type.String()),
  sessionId: Type.Optional(Type.String()),
  country: Type.Optional(Type.String()),
  device: Type.Optional(Type.String()),
  appVersion: Type.Optional(Type.String()),
  bot: Type.Optional(Type.Literal(true, { description: 'Whether a known bot sent it.' })),
  data: Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object' }),
});

export const forwardingEvents = {
  'events.batch': webhookEvent(
    'A batch of accepted events, sent to webhooks that events are forwarded to.',
    Type.Object({ forwardingId: Type.String(), events: Type.Array(ForwardedEvent) }),
    {
      forwardingId: 'efw_00000000000000000000000000',
      events: [
        {
          eventId: '00000000-0000-4000-8000-000000000000',
          event: 'playStart',
          contentId: '00000000-0000-4000-8000-000000000001',
          timestamp: '2026-01-31T12:00:00.000Z',
          receivedAt: '2026-01-31T12:00:01.000Z',
          userId: 'test',
          data: { startupTime: 180 },
        },
      ],
    },
  ),
};

declare module '../webhooks/webhooks.ts' {
  interface EventData extends EventsOf<typeof forwardingEvents> {}
}
