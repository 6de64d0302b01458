/** Webhook events about items. */
import { Type } from 'typebox';
import { Nullable } from '../../platform/http/schemas.ts';
import { webhookEvent, type EventsOf } from '../webhooks/webhooks.ts';

const contentId = '00000000-0000-7000-8000-000000000000';

const Failure = Type.Object({
  code: Type.String({ description: 'The code in `errorReason` of the item.' }),
  message: Type.String(),
});

export const contentEvents = {
  'content.ready': webhookEvent(
    'An item has been processed and can be played.',
    Type.Object({
      contentId: Type.String(),
      title: Type.String(),
      duration: Nullable(Type.Number({ description: 'Seconds.' })),
      status: Type.Literal('ready'),
    }),
    { contentId, title: 'Test event', duration: 12.5, status: 'ready' },
  ),
  'content.errored': webhookEvent(
    'Processing failed, or an upload was not completed.',
    Type.Object({
      contentId: Type.String(),
      title: Type.String(),
      status: Type.Literal('error'),
      error: Failure,
    }),
    {
      contentId,
      title: 'Test event',
      status: 'error',
      error: { code: 'UNSUPPORTED_MEDIA', message: 'This is a test.' },
    },
  ),
};

declare module '../webhooks/webhooks.ts' {
  interface EventData extends EventsOf<typeof contentEvents> {}
}
