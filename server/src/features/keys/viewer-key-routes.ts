import { Type } from 'typebox';
import type { Db } from '../../platform/database/database.ts';
import type { HttpApp } from '../../platform/http/app.ts';
import { principalOf } from '../../platform/http/principal.ts';
import {
  answers,
  Closed,
  Envelope,
  IdParams,
  ListEnvelope,
  Nullable,
  Timestamp,
} from '../../platform/http/schemas.ts';
import { secretValue } from '../../platform/http/secret-fields.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import { KeyRotation } from './schemas.ts';
import { selectViewerKeys } from './viewer-key-queries.ts';
import {
  createViewerKey,
  presentViewerKey,
  removeViewerKey,
  rotateViewerKey,
  type SignatureCache,
} from './viewer-keys.ts';

type Parts = {
  readonly db: Db;
  readonly mutations: Mutations;
  readonly vault: Vault;
  readonly signatures: SignatureCache;
};

const ViewerKey = Type.Object(
  {
    id: Type.String({ examples: ['vky_01kabc5m8nfe8v8q1m2vr5t9zd'] }),
    name: Type.String(),
    createdAt: Timestamp,
    expiresAt: Nullable(Timestamp),
  },
  { title: 'ViewerKey' },
);
const CreatedViewerKey = Type.Object(
  {
    ...ViewerKey.properties,
    key: Type.String({
      ...secretValue,
      description:
        'The key itself, for use only on your server. It is shown only in this response.',
    }),
  },
  { title: 'CreatedViewerKey' },
);
const RotatedViewerKey = Type.Object(
  {
    ...CreatedViewerKey.properties,
    replaces: Type.String({ description: 'The id of the previous key, which expires.' }),
  },
  { title: 'RotatedViewerKey' },
);

const config = { access: 'secret' as const };
const tags = ['Keys'];
const defaultGraceSeconds = 86_400;

export function addViewerKeyRoutes(app: HttpApp, parts: Parts): void {
  addListRoute(app, parts);
  addCreateRoute(app, parts);
  addRotateRoute(app, parts);
  addDeleteRoute(app, parts);
}

function addListRoute(app: HttpApp, { db }: Parts): void {
  app.get(
    '/v1/viewer-keys',
    {
      config,
      schema: {
        operationId: 'listViewerKeys',
        summary: 'List the viewer keys of the organization',
        description: 'Returns the active keys, newest first. There are at most 20.',
        tags,
        response: answers({ 200: ListEnvelope(ViewerKey) }),
      },
    },
    async (request) => {
      const rows = await selectViewerKeys(db, principalOf(request).organizationId);
      return { data: rows.map(presentViewerKey), meta: { total: rows.length, nextCursor: null } };
    },
  );
}

function addCreateRoute(app: HttpApp, { mutations, vault, signatures }: Parts): void {
  app.post(
    '/v1/viewer-keys',
    {
      config,
      schema: {
        operationId: 'createViewerKey',
        summary: 'Create a viewer key',
        description:
          'Your server uses it to sign user ids: hex HMAC-SHA256 of `userId`. The key is in ' +
          'this response and is never shown again.',
        tags,
        body: Closed({ name: Type.String({ minLength: 1, maxLength: 200 }) }),
        response: answers({ 201: Envelope(CreatedViewerKey) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      await mutations.mutate(request, reply, async (tx) => ({
        statusCode: 201,
        data: await createViewerKey(tx, vault, organizationId, request.body.name),
      }));
      signatures.forget();
      return reply;
    },
  );
}

function addRotateRoute(app: HttpApp, { mutations, vault, signatures }: Parts): void {
  app.post(
    '/v1/viewer-keys/:id/rotate',
    {
      config,
      schema: {
        operationId: 'rotateViewerKey',
        summary: 'Rotate a viewer key',
        description: 'Signatures by the old key stay valid for `gracePeriod` seconds.',
        tags,
        params: IdParams,
        body: KeyRotation,
        response: answers({ 201: Envelope(RotatedViewerKey) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const { gracePeriod: graceSeconds = defaultGraceSeconds } = request.body;
      await mutations.mutate(request, reply, async (tx) => ({
        statusCode: 201,
        data: await rotateViewerKey(tx, vault, organizationId, {
          id: request.params.id,
          graceSeconds,
        }),
      }));
      signatures.forget();
      return reply;
    },
  );
}

function addDeleteRoute(app: HttpApp, { mutations, signatures }: Parts): void {
  app.delete(
    '/v1/viewer-keys/:id',
    {
      config,
      schema: {
        operationId: 'deleteViewerKey',
        summary: 'Delete a viewer key',
        description: 'Every process rejects signatures by the key within five seconds.',
        tags,
        params: IdParams,
        response: answers({ 200: Envelope(ViewerKey) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      await mutations.mutate(request, reply, async (tx) => ({
        data: await removeViewerKey(tx, organizationId, request.params.id),
      }));
      signatures.forget();
      return reply;
    },
  );
}
