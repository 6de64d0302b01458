import { Type } from 'typebox';
import type { Db } from '../../platform/database/database.ts';
import type { HttpApp } from '../../platform/http/app.ts';
import { principalOf } from '../../platform/http/principal.ts';
import { answers, Closed, Envelope, Nullable, Timestamp } from '../../platform/http/schemas.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import { formatTimestamp } from '../../platform/values/time.ts';
import { findHoldout, saveHoldout, type Holdout } from './holdout.ts';
import { experimentConfig, experimentTags } from './routes.ts';

const HoldoutShown = Type.Object({ traffic: Type.Number(), updatedAt: Nullable(Timestamp) });

function present({ traffic, updatedAt }: Holdout) {
  return { traffic, updatedAt: formatTimestamp(updatedAt) };
}

export function addHoldoutRoutes(
  app: HttpApp,
  { db, mutations }: { db: Db; mutations: Mutations },
): void {
  app.get(
    '/v1/experiments/holdout',
    {
      config: experimentConfig,
      schema: {
        operationId: 'getHoldout',
        summary: 'Get the holdout',
        tags: experimentTags,
        response: answers({ 200: Envelope(HoldoutShown) }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      return { data: present(await findHoldout(db, organizationId)) };
    },
  );
  app.put(
    '/v1/experiments/holdout',
    {
      config: experimentConfig,
      schema: {
        operationId: 'putHoldout',
        summary: 'Set the holdout',
        description:
          'The holdout is the share of viewers who see no experiment. It always contains the same viewers; increasing it adds more. It applies to experiments that start ' +
          'later. Running experiments keep the holdout that they started with, so no participant is reassigned.',
        tags: experimentTags,
        body: Closed({ traffic: Type.Number({ minimum: 0, maximum: 0.5 }) }),
        response: answers({ 200: Envelope(HoldoutShown) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const { traffic } = request.body;
      return mutations.mutate(request, reply, async (tx) => ({
        data: present(await saveHoldout(tx, organizationId, traffic)),
      }));
    },
  );
}
