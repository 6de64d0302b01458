import type { Db } from '../../platform/database/database.ts';
import { fieldError } from '../../platform/http/errors.ts';
import { readPage, type ListCursors } from '../../platform/http/list-cursor.ts';
import { principalOf } from '../../platform/http/principal.ts';
import {
  answers,
  Closed,
  Envelope,
  IdParams,
  ListEnvelope,
  pageQuery,
} from '../../platform/http/schemas.ts';
import type { HttpApp } from '../../platform/http/app.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import { parseTimestamp } from '../../platform/time.ts';
import { createKey, presentKey, revoke, type Authenticator } from './keys.ts';
import { countKeys, listKeys } from './queries.ts';
import { CreatedKey, Key, NewKey } from './schemas.ts';

type KeyRouteParts = {
  db: Db;
  cursors: ListCursors;
  mutations: Mutations;
  authenticator: Authenticator;
};

export function addKeyRoutes(app: HttpApp, parts: KeyRouteParts): void {
  addListRoute(app, parts);
  addCreateRoute(app, parts);
  addRevokeRoute(app, parts);
}

const config = { access: 'secret' as const };

function addListRoute(app: HttpApp, { db, cursors }: KeyRouteParts): void {
  app.get(
    '/v1/keys',
    {
      config,
      schema: {
        operationId: 'listKeys',
        summary: 'List the keys of the organization',
        tags: ['Keys'],
        querystring: Closed(pageQuery),
        response: answers({ 200: ListEnvelope(Key) }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      return readPage(cursors, { list: 'keys', organizationId, filter: null }, request.query, {
        count: () => countKeys(db, organizationId),
        read: (limit, after) =>
          listKeys(db, organizationId, {
            limit,
            after: after && { createdAt: String(after[0]), keyId: String(after[1]) },
          }),
        position: (row) => [row.position, row.api_key_id],
        present: (row) => presentKey(row),
      });
    },
  );
}

function addCreateRoute(app: HttpApp, { mutations }: KeyRouteParts): void {
  app.post(
    '/v1/keys',
    {
      config,
      schema: {
        operationId: 'createKey',
        summary: 'Create a key',
        description: 'The key is in this answer and is never shown again.',
        tags: ['Keys'],
        body: NewKey,
        response: answers({ 201: Envelope(CreatedKey) }),
      },
    },
    async (request, reply) => {
      const { type, name } = request.body;
      const expiresAt = request.body.expiresAt ? parseTimestamp(request.body.expiresAt) : null;
      if (expiresAt !== null && expiresAt.getTime() <= Date.now()) {
        throw fieldError('expiresAt', 'must be in the future');
      }
      return mutations.mutate(request, reply, async (tx) => ({
        statusCode: 201,
        data: await createKey(tx, principalOf(request).organizationId, { type, name, expiresAt }),
      }));
    },
  );
}

function addRevokeRoute(app: HttpApp, { mutations, authenticator }: KeyRouteParts): void {
  app.delete(
    '/v1/keys/:id',
    {
      config,
      schema: {
        operationId: 'revokeKey',
        summary: 'Revoke a key',
        description: 'Every process refuses the key within five seconds.',
        tags: ['Keys'],
        params: IdParams,
        response: answers({ 200: Envelope(Key) }),
      },
    },
    async (request, reply) => {
      await mutations.mutate(request, reply, async (tx) => ({
        data: await revoke(tx, principalOf(request).organizationId, request.params.id),
      }));
      authenticator.forget();
      return reply;
    },
  );
}
