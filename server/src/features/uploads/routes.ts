import multipart from '@fastify/multipart';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Db } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/http/errors.ts';
import { principalOf } from '../../platform/http/principal.ts';
import { answers, Envelope, OneOf, Timestamp } from '../../platform/http/schemas.ts';
import { secretValue } from '../../platform/http/secret-fields.ts';
import type { HttpApp } from '../../platform/http/app.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { formatTimestamp } from '../../platform/values/time.ts';
import {
  ContentItem,
  entityTag,
  NewContentMetadata,
  presentItem,
  type MediaUrls,
  type Metadata,
} from '../content/content.ts';
import { watchArrival } from './arrival.ts';
import { discardRest } from './discard-rest.ts';
import { receiveForm } from './multipart.ts';
import { arrivedMedia, receiveMedia, type UploadLimits } from './receive-media.ts';
import { addTusRoutes } from './tus-routes.ts';
import {
  completeUpload,
  createUploadedItem,
  openUpload,
  requireOpenSession,
  withStoredSource,
} from './uploads.ts';

export type UploadRouteParts = {
  db: Db;
  storage: Storage;
  mutations: Mutations;
  urls: MediaUrls;
  publicUrl: string;
  limits: UploadLimits;
  expiryMs: number;
  /** Called when an item is waiting for processing. */
  onUploaded: () => void;
};

const OpenedUpload = Type.Object({
  ...ContentItem.properties,
  uploadUrl: Type.Optional(
    Type.String({ ...secretValue, description: 'URL that accepts one PUT of the file.' }),
  ),
  uploadMethod: Type.Optional(OneOf(['PUT'] as const)),
  uploadExpiresAt: Type.Optional(Timestamp),
});

export async function addUploadRoutes(app: HttpApp, parts: UploadRouteParts): Promise<void> {
  await app.register(multipart);
  addCreateRoute(app, parts);
  // The body may have any Content-Type, so this scope has no body parsers.
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    addTusRoutes(scope, parts);
    addBytesRoute(scope, parts);
  });
}

const MediaFile = { type: 'string', format: 'binary', description: 'A video or audio file.' };

/** Forms are read part by part, so their schema is only documentation. */
const bodyOfUpload = {
  'application/json': { schema: NewContentMetadata },
  'multipart/form-data': {
    schema: {
      type: 'object',
      required: ['title', 'file'],
      properties: { ...NewContentMetadata.properties, file: MediaFile },
    },
  },
};
const bodyOfBytes = { 'application/octet-stream': { schema: MediaFile } };

function addCreateRoute(app: HttpApp, parts: UploadRouteParts): void {
  app.post(
    '/v1/content/upload',
    {
      config: { access: 'secret', streamsBody: true, describedBody: bodyOfUpload },
      schema: {
        operationId: 'uploadContent',
        summary: 'Create a video item and upload its bytes',
        description:
          'With a JSON body, the response contains an `uploadUrl` that accepts the bytes by PUT. With ' +
          '`multipart/form-data`, a part `file` contains the bytes and fields contain the metadata.',
        tags: ['Content'],
        consumes: ['application/json', 'multipart/form-data'],
        body: {
          content: {
            'application/json': { schema: NewContentMetadata },
            'multipart/form-data': { schema: {} },
          },
        },
        response: answers({ 201: Envelope(OpenedUpload) }),
      },
    },
    (request, reply) =>
      request.isMultipart()
        ? createFromForm(request, reply, parts)
        : createFromJson(request, reply, parts),
  );
}

function createFromJson(request: FastifyRequest, reply: FastifyReply, parts: UploadRouteParts) {
  const { organizationId } = principalOf(request);
  // Validation depends on the Content-Type, so a request without a body was not validated.
  if (request.body === undefined) {
    throw new ApiError('INVALID_REQUEST', {
      message: 'The body is missing. Send the metadata as JSON, or a multipart form with the file.',
    });
  }
  return parts.mutations.mutate(request, reply, async (tx) => {
    const metadata = request.body as Metadata;
    const { row, token, expiresAt } = await openUpload(
      tx,
      organizationId,
      metadata,
      parts.expiryMs,
    );
    return {
      statusCode: 201,
      headers: { location: `/v1/content/${row.content_id}`, etag: entityTag(row) },
      data: {
        ...presentItem(row, parts.urls),
        uploadUrl: `${parts.publicUrl}/v1/uploads/${token}`,
        uploadMethod: 'PUT',
        uploadExpiresAt: formatTimestamp(expiresAt),
      },
    };
  });
}

async function createFromForm(
  request: FastifyRequest,
  reply: FastifyReply,
  parts: UploadRouteParts,
) {
  const { organizationId } = principalOf(request);
  refuseDeclaredSize(request, parts.limits);
  const received = await receiveForm(request, parts.storage, parts.limits).finally(() =>
    discardRest(request),
  );
  await using file = received.media.file;
  const { metadata } = received;
  const media = arrivedMedia(parts.storage, received.media);
  const fingerprint = JSON.stringify([metadata, file.sha256]);
  await withStoredSource(parts.storage, organizationId, media, async (key) => {
    // A replayed response belongs to the first request's bytes, so these are not stored.
    let isTaken = false;
    await parts.mutations.mutate(
      request,
      reply,
      async (tx) => {
        isTaken = true;
        const row = await createUploadedItem(tx, organizationId, metadata, { key, media });
        return {
          statusCode: 201,
          headers: { location: `/v1/content/${row.content_id}`, etag: entityTag(row) },
          data: presentItem(row, parts.urls),
        };
      },
      fingerprint,
    );
    if (!isTaken) await parts.storage.remove(key);
  });
  parts.onUploaded();
  return reply;
}

function addBytesRoute(app: HttpApp, parts: UploadRouteParts): void {
  app.put(
    '/v1/uploads/:token',
    {
      config: {
        access: 'public',
        limitedAs: 'media',
        streamsBody: true,
        describedBody: bodyOfBytes,
      },
      schema: {
        operationId: 'putUploadBytes',
        summary: 'Send the bytes of an upload',
        description:
          'The URL is the `uploadUrl` of the created item and requires no key. It also supports tus 1.0 ' +
          '(creation, expiration, checksum, termination, concatenation) for resumable uploads.',
        tags: ['Content'],
        params: Type.Object({ token: Type.String() }),
        response: answers({ 200: Envelope(ContentItem) }),
      },
    },
    async (request, reply) => {
      const { token } = request.params;
      try {
        refusePartialPut(request);
        await requireOpenSession(parts.db, token);
        refuseDeclaredSize(request, parts.limits);
        const declared = Number(request.headers['content-length'] ?? Number.NaN);
        using arrival = watchArrival(request.raw, parts.limits.arrival);
        const media = await receiveMedia(
          parts.storage,
          request.raw,
          parts.limits,
          Number.isSafeInteger(declared) ? declared : null,
          arrival.signal,
        );
        await using _file = media.file;
        const arrived = arrivedMedia(parts.storage, media);
        const row = await completeUpload(parts.db, parts.storage, token, arrived);
        parts.onUploaded();
        reply.header('etag', entityTag(row));
        return { data: presentItem(row, parts.urls) };
      } finally {
        discardRest(request);
      }
    },
  );
}

/** A partial PUT must not be taken for the whole file (RFC 9110, section 14.5). */
function refusePartialPut(request: FastifyRequest): void {
  if (request.headers['content-range'] === undefined) return;
  throw new ApiError('INVALID_REQUEST', {
    message:
      'A PUT must contain the whole file without Content-Range. To send it in parts, use tus.',
  });
}

/** Rejects an upload right away if its declared size is too large. */
function refuseDeclaredSize(request: FastifyRequest, { maxUploadBytes }: UploadLimits): void {
  const formOverheadBytes = request.isMultipart() ? 1024 * 1024 : 0;
  if (Number(request.headers['content-length'] ?? 0) > maxUploadBytes + formOverheadBytes) {
    throw new ApiError('PAYLOAD_TOO_LARGE', {
      message: `The file is larger than the maximum of ${maxUploadBytes} bytes.`,
    });
  }
}
