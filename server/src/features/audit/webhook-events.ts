/** Webhook events about the audit log. */
import { Type } from 'typebox';
import { Nullable, OneOf } from '../../platform/http/schemas.ts';
import { webhookEvent, type EventsOf } from '../webhooks/webhooks.ts';
import { actors } from './actors.ts';

const nullableText = Nullable(Type.String());

/**
 * Excludes the entry's values. They may identify viewers: the audit log forgets an erased viewer,
 * but a delivery that was sent can't.
 */
export const auditEvents = {
  'audit.recorded': webhookEvent(
    'The audit log has a new entry. Sent only to webhooks that subscribe to `audit.recorded` or `audit.*`.',
    Type.Object({
      auditId: Type.String(),
      action: Type.String({ description: 'The `operationId` of the request, or a similar name.' }),
      actor: Type.Object({
        type: OneOf(actors),
        keyId: nullableText,
        personId: nullableText,
        systemUser: nullableText,
      }),
      resourceId: nullableText,
      requestId: nullableText,
    }),
    {
      auditId: 'aud_00000000000000000000000000',
      action: 'testEvent',
      actor: {
        type: 'key',
        keyId: 'key_00000000000000000000000000',
        personId: null,
        systemUser: null,
      },
      resourceId: null,
      requestId: null,
    },
  ),
};

declare module '../webhooks/webhooks.ts' {
  interface EventData extends EventsOf<typeof auditEvents> {}
}
