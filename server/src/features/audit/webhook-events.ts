/** What webhooks are told of the audit log. */
import { Type } from 'typebox';
import { Nullable, OneOf } from '../../platform/http/schemas.ts';
import { webhookEvent, type EventsOf } from '../webhooks/webhooks.ts';
import { actors } from './actors.ts';

const nullableText = Nullable(Type.String());

/**
 * The values of an entry are left out. They may name viewers, and the audit log forgets an erased
 * viewer, which a delivery that is out already can't.
 */
export const auditEvents = {
  'audit.recorded': webhookEvent(
    'The audit log has a new entry. Only webhooks that name `audit.recorded` or `audit.*` get it.',
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
