import { Type } from 'typebox';
import type { Db } from '../../platform/database/database.ts';
import { ApiError, fieldError } from '../../platform/http/errors.ts';
import { momentAndId, readPage, type ListCursors } from '../../platform/http/list-cursor.ts';
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
import { momentOfTypeId, parseTypeId, type RequestId } from '../../platform/values/ids.ts';
import { formatTimestamp, parseTimestamp } from '../../platform/values/time.ts';
import { createKey, presentKey, revoke, rotate, type Authenticator } from './keys.ts';
import { requireMayGrant, requireMayRevoke, requireMayRotate } from './grants.ts';
import { countKeys, hasKey, listKeys } from './queries.ts';
import { countRequests, listRequests, type RequestRow } from './request-queries.ts';
import { CreatedKey, Key, KeyRequest, KeyRotation, newKeySchema, RotatedKey } from './schemas.ts';
import type { Scopes } from './scopes.ts';

type KeyRouteParts = {
  db: Db;
  cursors: ListCursors;
  mutations: Mutations;
  authenticator: Authenticator;
  scopes: Scopes;
};

export function addKeyRoutes(app: HttpApp, parts: KeyRouteParts): void {
  addListRoute(app, parts);
  addCreateRoute(app, parts);
  addRotateRoute(app, parts);
  addRevokeRoute(app, parts);
  addRequestsRoute(app, parts);
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
            after: momentAndId(after),
          }),
        position: (row) => [row.position, row.api_key_id],
        present: (row) => presentKey(row),
      });
    },
  );
}

function addCreateRoute(app: HttpApp, { db, mutations, scopes }: KeyRouteParts): void {
  app.post(
    '/v1/keys',
    {
      config,
      schema: {
        operationId: 'createKey',
        summary: 'Create a key',
        description: 'The key is in this response and is never shown again.',
        tags: ['Keys'],
        body: newKeySchema(scopes.names),
        response: answers({ 201: Envelope(CreatedKey) }),
      },
    },
    async (request, reply) => {
      const { type, name, scopes = null, rateLimit = null } = request.body;
      const principal = principalOf(request);
      const expiresAt = request.body.expiresAt ? parseTimestamp(request.body.expiresAt) : null;
      if (expiresAt !== null && expiresAt.getTime() <= Date.now()) {
        throw fieldError('expiresAt', 'must be in the future');
      }
      await requireMayGrant(db, principal, { scopes, rateLimit, expiresAt });
      return mutations.mutate(request, reply, async (tx) => ({
        statusCode: 201,
        data: await createKey(tx, principal.organizationId, {
          type,
          name,
          expiresAt,
          scopes,
          rateLimit,
        }),
      }));
    },
  );
}

const defaultGraceSeconds = 86_400;

function addRotateRoute(app: HttpApp, { db, mutations, authenticator }: KeyRouteParts): void {
  app.post(
    '/v1/keys/:id/rotate',
    {
      config,
      schema: {
        operationId: 'rotateKey',
        summary: 'Rotate a key',
        description:
          'The new key has the same type, name, scopes and limit. The old one keeps working for ' +
          '`gracePeriod` seconds. The new key is in this response and is never shown again.',
        tags: ['Keys'],
        params: IdParams,
        body: KeyRotation,
        response: answers({ 201: Envelope(RotatedKey) }),
      },
    },
    async (request, reply) => {
      const principal = principalOf(request);
      const { id } = request.params;
      const { gracePeriod = defaultGraceSeconds } = request.body;
      await requireMayRotate(db, principal, id);
      await mutations.mutate(request, reply, async (tx) => ({
        statusCode: 201,
        data: await rotate(tx, principal.organizationId, id, gracePeriod),
      }));
      authenticator.forget();
      return reply;
    },
  );
}

function addRevokeRoute(app: HttpApp, { db, mutations, authenticator }: KeyRouteParts): void {
  app.delete(
    '/v1/keys/:id',
    {
      config,
      schema: {
        operationId: 'revokeKey',
        summary: 'Revoke a key',
        description: 'Every process rejects the key within five seconds.',
        tags: ['Keys'],
        params: IdParams,
        response: answers({ 200: Envelope(Key) }),
      },
    },
    async (request, reply) => {
      const principal = principalOf(request);
      const { id } = request.params;
      await requireMayRevoke(db, principal, id);
      await mutations.mutate(request, reply, async (tx) => ({
        data: await revoke(tx, principal.organizationId, id),
      }));
      authenticator.forget();
      return reply;
    },
  );
}

function addRequestsRoute(app: HttpApp, { db, cursors }: KeyRouteParts): void {
  app.get(
    '/v1/keys/:id/requests',
    {
      config,
      schema: {
        operationId: 'listKeyRequests',
        summary: 'List the latest requests of a key',
        description:
          'Newest first, including rejected requests. A request appears within a few ' +
          'seconds. At most 50,000 requests of the last days are kept (`REELFEED_REQUEST_LOG_RETENTION`).',
        tags: ['Keys'],
        params: IdParams,
        querystring: Closed({
          ...pageQuery,
          minStatus: Type.Optional(
            Type.Integer({ minimum: 100, maximum: 599, description: '400: failures only.' }),
          ),
        }),
        response: answers({ 200: ListEnvelope(KeyRequest) }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const keyId = parseTypeId('key', request.params.id);
      if (keyId === null || !(await hasKey(db, organizationId, keyId))) {
        throw new ApiError('NOT_FOUND');
      }
      const { minStatus = 100, ...page } = request.query;
      const filter = { keyId, minStatus };
      return readPage(cursors, { list: 'key requests', organizationId, filter }, page, {
        count: () => countRequests(db, filter),
        read: (limit, after) =>
          listRequests(db, filter, { limit, before: after && String(after[0]) }),
        position: ({ requestId }) => [requestId],
        present: presentRequest,
      });
    },
  );
}

function presentRequest({ requestId, method, route, status, durationMs, leftOut }: RequestRow) {
  const time = formatTimestamp(momentOfTypeId(requestId as RequestId));
  return { requestId, time, method, route, statusCode: status, durationMs, leftOut };
}
