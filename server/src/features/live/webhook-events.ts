import { Type } from 'typebox';
import { Nullable, Timestamp } from '../../platform/http/schemas.ts';
import { webhookEvent, type EventsOf } from '../webhooks/webhooks.ts';

const contentId = '00000000-0000-7000-8000-000000000000';
const liveStreamId = 'lst_00000000000000000000000000';
const at = '2026-01-31T12:00:00.000Z';
const later = '2026-01-31T12:00:01.000Z';

const LiveStream = {
  liveStreamId: Type.String(),
  contentId: Type.String({ description: 'The content item of the stream.' }),
  title: Type.String(),
};

export const liveEvents = {
  'live_stream.active': webhookEvent(
    'A live stream went live with its first picture.',
    Type.Object({ ...LiveStream, status: Type.Literal('active'), startedAt: Timestamp }),
    { liveStreamId, contentId, title: 'Test event', status: 'active', startedAt: at },
  ),
  'live_stream.disconnected': webhookEvent(
    'The publisher of a live stream disconnected. The stream ends unless the publisher reconnects within the `reconnectWindow`.',
    Type.Object({ ...LiveStream, status: Type.Literal('active'), disconnectedAt: Timestamp }),
    { liveStreamId, contentId, title: 'Test event', status: 'active', disconnectedAt: at },
  ),
  'live_stream.reconnected': webhookEvent(
    'The publisher of a live stream reconnected, and its video is shown again.',
    Type.Object({
      ...LiveStream,
      status: Type.Literal('active'),
      disconnectedAt: Timestamp,
    }),
    { liveStreamId, contentId, title: 'Test event', status: 'active', disconnectedAt: at },
  ),
  'live_stream.ended': webhookEvent(
    'A live stream has ended.',
    Type.Object({
      ...LiveStream,
      status: Type.Literal('ended'),
      startedAt: Nullable(Timestamp),
      endedAt: Timestamp,
    }),
    {
      liveStreamId,
      contentId,
      title: 'Test event',
      status: 'ended',
      startedAt: at,
      endedAt: later,
    },
  ),
};

declare module '../webhooks/webhooks.ts' {
  interface EventData extends EventsOf<typeof liveEvents> {}
}
