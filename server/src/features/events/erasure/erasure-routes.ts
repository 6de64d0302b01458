import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Db } from '../../../platform/database/database.ts';
import { ApiError } from '../../../platform/http/errors.ts';
import { principalOf } from '../../../platform/http/principal.ts';
import { answers, Envelope, Nullable, OneOf, Timestamp } from '../../../platform/http/schemas.ts';
import type { HttpApp } from '../../../platform/http/app.ts';
import type { Mutations } from '../../../platform/idempotency/idempotency.ts';
import { formatTimestamp } from '../../../platform/values/time.ts';
import type { Vault } from '../../../platform/secrets/vault.ts';
import { askForErasure, erasureKey } from './erasure.ts';
import { findErasure, type ErasureRow } from './erasure-queries.ts';

const Erasure = Envelope(
  Type.Object({
    userId: Type.String(),
    status: OneOf(['pending', 'complete', 'failed']),
    requestedAt: Timestamp,
    completedAt: Nullable(Timestamp),
    blocksRead: Type.Integer({ description: 'Number of event log blocks searched so far.' }),
    eventsRemoved: Type.Integer(),
  }),
);
const UserId = Type.Object({ userId: Type.String({ minLength: 1, maxLength: 256 }) });

const tags = ['Users'];

export type ErasureRouteParts = {
  readonly db: Db;
  readonly mutations: Mutations;
  readonly vault: Vault;
  readonly onQueued: () => void;
};

export function addErasureRoutes(
  app: HttpApp,
  { db, mutations, vault, onQueued }: ErasureRouteParts,
): void {
  const erase = async (userId: string, request: FastifyRequest, reply: FastifyReply) => {
    const { organizationId } = principalOf(request);
    const sent = await mutations.mutate(request, reply, async (tx) => ({
      data: present(userId, await askForErasure(tx, vault, { organizationId, userId })),
    }));
    onQueued();
    return sent;
  };
  const find = async (userId: string, request: FastifyRequest) => {
    const { organizationId } = principalOf(request);
    const erasure = await findErasure(db, await erasureKey(db, { organizationId, userId }));
    if (erasure === null) throw new ApiError('NOT_FOUND');
    return { data: present(userId, erasure) };
  };
  app.delete(
    '/v1/users/:userId/data',
    {
      config: { access: 'secret' },
      schema: { ...eraseSchema('eraseUserData'), params: UserId },
    },
    (request, reply) => erase(request.params.userId, request, reply),
  );
  app.get(
    '/v1/users/:userId/data',
    {
      config: { access: 'secret' },
      schema: { ...findSchema('getUserDataErasure'), params: UserId },
    },
    (request) => find(request.params.userId, request),
  );
  // HTTP clients normalize `.` and `..` in a path, even if they are encoded.
  app.delete(
    '/v1/users/data',
    {
      config: { access: 'secret' },
      schema: { ...eraseSchema('eraseUserDataByQuery'), querystring: UserId },
    },
    (request, reply) => erase(request.query.userId, request, reply),
  );
  app.get(
    '/v1/users/data',
    {
      config: { access: 'secret' },
      schema: { ...findSchema('getUserDataErasureByQuery'), querystring: UserId },
    },
    (request) => find(request.query.userId, request),
  );
}

const anyId = 'Passing the id in the query allows any id, including `.` and `..`.';

function eraseSchema(operationId: string) {
  return {
    operationId,
    summary: 'Erase the data of a viewer',
    description:
      'Removes the events of the user id and everything derived from them: views, sessions, ' +
      'interests. In events of other viewers, the id is replaced wherever it occurs as a value or as ' +
      'a key. Counts are kept without reference to the viewer. The erasure runs in the background; `GET` ' +
      `returns its progress. Events sent later are new data. ${anyId}`,
    tags,
    response: answers({ 200: Erasure }),
  };
}

function findSchema(operationId: string) {
  return {
    operationId,
    summary: 'Get the progress of the erasure of a viewer',
    description: `Returns the latest requested erasure; 404 if there is none. ${anyId}`,
    tags,
    response: answers({ 200: Erasure }),
  };
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
