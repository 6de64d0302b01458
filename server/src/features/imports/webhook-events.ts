/** Webhook events about imports. */
import { Type } from 'typebox';
import { Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts';
import { webhookEvent, type EventsOf } from '../webhooks/webhooks.ts';

const Failure = Type.Object({
  code: Type.String({ description: 'The error code, as in `errorReason` of the item.' }),
  message: Type.String(),
});

export const importEvents = {
  'content.import.finished': webhookEvent(
    'All items created by one import request are ready or have failed.',
    Type.Object({
      importId: Type.String(),
      totalItems: Type.Integer(),
      readyItems: Type.Integer(),
      failedItems: Type.Integer(),
      items: Type.Array(
        Type.Object({
          contentId: Type.String(),
          externalId: Nullable(Type.String()),
          status: OneOf(['ready', 'error'] as const),
          error: Nullable(Failure),
        }),
        { description: 'Excludes items deleted in the meantime.' },
      ),
      createdAt: Timestamp,
    }),
    {
      importId: 'imp_00000000000000000000000000',
      totalItems: 1,
      readyItems: 1,
      failedItems: 0,
      items: [
        {
          contentId: '00000000-0000-7000-8000-000000000000',
          externalId: 'test',
          status: 'ready',
          error: null,
        },
      ],
      createdAt: '2026-01-01T00:00:00.000Z',
    },
  ),
};

declare module '../webhooks/webhooks.ts' {
  interface EventData extends EventsOf<typeof importEvents> {}
}
