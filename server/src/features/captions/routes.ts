import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Db } from '../../platform/database/database.ts';
import type { HttpApp } from '../../platform/http/app.ts';
import { principalOf } from '../../platform/http/principal.ts';
import { answers, Envelope, IdParams } from '../../platform/http/schemas.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import {
  CaptionTrack,
  entityTag,
  getItem,
  presentCaptions,
  type MediaUrls,
} from '../content/content.ts';
import {
  discardRest,
  receiveSmallForm,
  wasRolledBack,
  type UploadLimits,
} from '../uploads/uploads.ts';
import {
  addCaption,
  maxCaptionBytes,
  removeCaption,
  requireVideo,
  storeCaption,
} from './captions.ts';

export type CaptionRouteParts = {
  db: Db;
  storage: Storage;
  mutations: Mutations;
  urls: MediaUrls;
  upload: UploadLimits;
  /** Called after a change is committed. */
  onChange: () => void;
};

const tags = ['Captions'];
const config = { access: 'secret' as const };
const Id = Type.String({ maxLength: 512 });

const bodyOfCaptions = {
  'multipart/form-data': {
    schema: {
      type: 'object',
      required: ['file', 'language'],
      properties: {
        file: { type: 'string', format: 'binary', description: 'WebVTT or SubRip, at most 2 MB.' },
        language: { type: 'string', pattern: '^[A-Za-z]{2}$', description: 'ISO 639-1.' },
        label: {
          type: 'string',
          maxLength: 100,
          description: 'Default: the name of the language.',
        },
      },
    },
  },
};

export function addCaptionRoutes(app: HttpApp, parts: CaptionRouteParts): void {
  addUploadRoute(app, parts);
  addListRoute(app, parts);
  addRemoveRoute(app, parts);
}

function addUploadRoute(app: HttpApp, parts: CaptionRouteParts): void {
  app.post(
    '/v1/content/:id/captions',
    {
      config: { access: 'secret', streamsBody: true, describedBody: bodyOfCaptions },
      schema: {
        operationId: 'addCaptions',
        summary: 'Add captions to a video',
        description:
          'Accepts WebVTT or SubRip in UTF-8, UTF-16 or Windows-1252. The captions are stored as WebVTT, keeping only bold, ' +
          'italics and underline, and appear in the HLS playlist within a second.',
        tags,
        consumes: ['multipart/form-data'],
        params: IdParams,
        response: answers({ 201: Envelope(CaptionTrack) }),
      },
    },
    async (request, reply) => {
      try {
        return await receiveCaptions(parts, request, reply, request.params.id);
      } finally {
        discardRest(request);
      }
    },
  );
}

async function receiveCaptions(
  parts: CaptionRouteParts,
  request: FastifyRequest,
  reply: FastifyReply,
  id: string,
): Promise<FastifyReply> {
  const { db, storage, mutations, urls, upload } = parts;
  const { organizationId } = principalOf(request);
  const video = requireVideo(await getItem(db, organizationId, id));
  const form = await receiveSmallForm(request, storage, {
    ...upload,
    maxUploadBytes: maxCaptionBytes,
    checkHead: () => undefined,
  });
  await using file = form.file;
  const caption = await storeCaption(parts, organizationId, form, video);
  let isNamed = false;
  try {
    await mutations.mutate(
      request,
      reply,
      async (tx) => {
        isNamed = true;
        const row = await addCaption(tx, organizationId, id, caption);
        const data = presentCaptions(row, urls).find((track) => track.id === caption.assetId);
        return { statusCode: 201, headers: { etag: entityTag(row) }, data };
      },
      JSON.stringify([caption.language, caption.label, file.sha256]),
    );
  } catch (error) {
    // A commit whose response was lost may have succeeded.
    isNamed = !wasRolledBack(error);
    throw error;
  } finally {
    // A replayed response references the first request's files.
    if (!isNamed) await storage.removePrefix(`media/${caption.folder}`);
  }
  parts.onChange();
  return reply;
}

function addListRoute(app: HttpApp, { db, urls }: CaptionRouteParts): void {
  app.get(
    '/v1/content/:id/captions',
    {
      config,
      schema: {
        operationId: 'listCaptions',
        summary: 'List the captions of a video',
        tags,
        params: IdParams,
        response: answers({ 200: Envelope(Type.Array(CaptionTrack)) }),
      },
    },
    async (request) => {
      const row = await getItem(db, principalOf(request).organizationId, request.params.id);
      return { data: presentCaptions(row, urls) };
    },
  );
}

function addRemoveRoute(app: HttpApp, { mutations, onChange }: CaptionRouteParts): void {
  app.delete(
    '/v1/content/:id/captions/:captionId',
    {
      config,
      schema: {
        operationId: 'removeCaptions',
        summary: 'Remove captions from a video',
        tags,
        params: Type.Object({ id: Id, captionId: Id }),
        response: answers({
          200: Envelope(Type.Object({ id: Type.String(), deleted: Type.Literal(true) })),
        }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const { id, captionId } = request.params;
      await mutations.mutate(request, reply, async (tx) => {
        await removeCaption(tx, organizationId, id, captionId);
        return { data: { id: captionId.toLowerCase(), deleted: true } };
      });
      onChange();
      return reply;
    },
  );
}
