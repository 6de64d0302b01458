/** What webhooks are told of experiments. */
import { Type } from 'typebox';
import { Nullable, Timestamp } from '../../platform/http/schemas.ts';
import { webhookEvent, type EventsOf } from '../webhooks/webhooks.ts';

const at = '2026-01-31T12:00:00.000Z';
const later = '2026-01-31T12:00:01.000Z';

export const experimentEvents = {
  'experiment.completed': webhookEvent(
    'An experiment ended by itself, at its `endsAt`.',
    Type.Object({
      experimentId: Type.String(),
      name: Type.String(),
      status: Type.Literal('completed'),
      startedAt: Nullable(Timestamp),
      completedAt: Timestamp,
      winner: Nullable(Type.String({ description: 'The recommended variant, if there is one.' })),
    }),
    {
      experimentId: 'exp_00000000000000000000000000',
      name: 'Test event',
      status: 'completed',
      startedAt: at,
      completedAt: later,
      winner: null,
    },
  ),
};

declare module '../webhooks/webhooks.ts' {
  interface EventData extends EventsOf<typeof experimentEvents> {}
}
