import { Type } from 'typebox';
import { Nullable, Timestamp } from '../../platform/http/schemas.ts';
import { webhookEvent, type EventsOf } from '../webhooks/webhooks.ts';

const at = '2026-01-31T12:00:00.000Z';
const later = '2026-01-31T12:00:01.000Z';

export const experimentEvents = {
  'experiment.completed': webhookEvent(
    'An experiment ended automatically at its `endsAt`.',
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
  'experiment.guardrail_harmed': webhookEvent(
    'A guardrail of a running experiment was harmed: it is significantly worse than its margin allows. Sent once per guardrail and variant.',
    Type.Object({
      experimentId: Type.String(),
      name: Type.String(),
      metric: Type.String(),
      variant: Type.String({ description: 'The id of the variant.' }),
      margin: Type.Number(),
      lift: Type.Number({ description: 'Relative to the control.' }),
      liftInterval: Type.Array(Type.Number(), { minItems: 2, maxItems: 2 }),
      harmedAt: Timestamp,
    }),
    {
      experimentId: 'exp_00000000000000000000000000',
      name: 'Test event',
      metric: 'retention',
      variant: 'b',
      margin: 0.02,
      lift: -0.11,
      liftInterval: [-0.16, -0.06],
      harmedAt: at,
    },
  ),
};

declare module '../webhooks/webhooks.ts' {
  interface EventData extends EventsOf<typeof experimentEvents> {}
}
