import { Type } from 'typebox';
import type { Db } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/http/errors.ts';
import { principalOf } from '../../platform/http/principal.ts';
import { answers, Envelope, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts';
import type { HttpApp } from '../../platform/http/app.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import { formatTimestamp } from '../../platform/time.ts';
import { askForErasure, erasureKey } from './erasure.ts';
import { findErasure, type ErasureRow } from './erasure-queries.ts';

const Erasure = Envelope(
  Type.Object({
    userId: Type.String(),
    status: OneOf(['pending', 'complete', 'failed']),
    requestedAt: Timestamp,
    completedAt: Nullable(Timestamp),
    blocksRead: Type.Integer({ description: 'Blocks of the event log that were searched so far.' }),
    eventsRemoved: Type.Integer(),
  }),
);
const Params = Type.Object({ userId: Type.String({ minLength: 1, maxLength: 256 }) });

const tags = ['Users'];

export type ErasureRouteParts = {
  readonly db: Db;
  readonly mutations: Mutations;
  readonly onQueued: () => void;
};

export function addErasureRoutes(
  app: HttpApp,
  { db, mutations, onQueued }: ErasureRouteParts,
): void {
  app.delete(
    '/v1/users/:userId/data',
    {
      config: { access: 'secret' },
      schema: {
        operationId: 'eraseUserData',
        summary: 'Erase what is kept of a viewer',
        description:
          'Removes the events that name the user id, and what was made of them: views, sessions, ' +
          'likings. Counts stay, without the viewer. It runs in the background; `GET` tells how ' +
          'far it is. Events that are sent later are new data.',
        tags,
        params: Params,
        response: answers({ 200: Erasure }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const { userId } = request.params;
      const sent = await mutations.mutate(request, reply, async (tx) => ({
        data: present(userId, await askForErasure(tx, { organizationId, userId })),
      }));
      onQueued();
      return sent;
    },
  );
  app.get(
    '/v1/users/:userId/data',
    {
      config: { access: 'secret' },
      schema: {
        operationId: 'getUserDataErasure',
        summary: 'How far the erasure of a viewer is',
        description: 'Of the last one that was asked for; 404 when none was.',
        tags,
        params: Params,
        response: answers({ 200: Erasure }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { userId } = request.params;
      const erasure = await findErasure(db, erasureKey({ organizationId, userId }));
      if (erasure === null) throw new ApiError('NOT_FOUND');
      return { data: present(userId, erasure) };
    },
  );
}

function present(userId: string, erasure: ErasureRow) {
  return {
    userId,
    status: erasure.status,
    requestedAt: formatTimestamp(erasure.requestedAt),
    completedAt: formatTimestamp(erasure.completedAt),
    blocksRead: erasure.blocksRead,
    eventsRemoved: erasure.eventsRemoved,
  };
}
