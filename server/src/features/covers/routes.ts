import type { FastifyReply, FastifyRequest } from 'fastify';
import type { HttpApp } from '../../platform/http/app.ts';
import { ApiError } from '../../platform/http/errors.ts';
import { principalOf } from '../../platform/http/principal.ts';
import { answers, Envelope, IdParams } from '../../platform/http/schemas.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import {
  ContentItem,
  entityTag,
  getItem,
  presentItem,
  requirePicture,
  type MediaUrls,
} from '../content/content.ts';
import { discardRest, wasRolledBack } from '../uploads/uploads.ts';
import { removeCover, setUploadedCover } from './covers.ts';
import { receiveCover, type CoverParts } from './receive-cover.ts';

export type CoverRouteParts = CoverParts & {
  mutations: Mutations;
  urls: MediaUrls;
  /** Called after a change was committed. */
  onChange: () => void;
};

const tags = ['Content'];

const bodyOfCover = {
  'multipart/form-data': {
    schema: {
      type: 'object',
      required: ['file'],
      properties: {
        file: {
          type: 'string',
          format: 'binary',
          description: 'JPEG, PNG, WebP, AVIF or HEIC; at most 10 MB.',
        },
      },
    },
  },
};

export function addCoverRoutes(app: HttpApp, parts: CoverRouteParts): void {
  app.put(
    '/v1/content/:id/cover',
    {
      config: { access: 'secret', streamsBody: true, describedBody: bodyOfCover },
      schema: {
        operationId: 'setCover',
        summary: 'Set an image as the thumbnail of a video',
        description:
          'The image is turned upright, scaled, and stored as thumbnails without its metadata. ' +
          'For a moment of the video, change `thumbnailTime`.',
        tags,
        consumes: ['multipart/form-data'],
        params: IdParams,
        response: answers({ 200: Envelope(ContentItem) }),
      },
    },
    async (request, reply) => {
      try {
        return await storeCover(parts, request, reply, request.params.id);
      } finally {
        discardRest(request);
      }
    },
  );
  app.delete(
    '/v1/content/:id/cover',
    {
      config: { access: 'secret' },
      schema: {
        operationId: 'removeCover',
        summary: 'Go back to the first picture as the thumbnail of a video',
        tags,
        params: IdParams,
        response: answers({ 200: Envelope(ContentItem) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      await parts.mutations.mutate(request, reply, async (tx) => {
        const row = await removeCover(tx, organizationId, request.params.id);
        return { data: presentItem(row, parts.urls), headers: { etag: entityTag(row) } };
      });
      parts.onChange();
      return reply;
    },
  );
}

/** Aborts when the client has closed its connection: nobody waits for the image any more. */
function untilGone({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController();
  const gone = () =>
    controller.abort(new ApiError('INVALID_REQUEST', { message: 'The client has gone.' }));
  if (raw.closed) gone();
  else raw.once('close', gone);
  return controller.signal;
}

async function storeCover(
  parts: CoverRouteParts,
  request: FastifyRequest,
  reply: FastifyReply,
  id: string,
): Promise<FastifyReply> {
  const { db, mutations, storage, urls } = parts;
  const { organizationId } = principalOf(request);
  const video = await getItem(db, organizationId, id);
  requirePicture(video, 'file');
  const owner = { organizationId, playbackId: video.playback_id };
  const cover = await receiveCover(parts, { request, signal: untilGone(reply) }, owner);
  let isNamed = false;
  try {
    await mutations.mutate(
      request,
      reply,
      async (tx) => {
        isNamed = true;
        const row = await setUploadedCover(tx, organizationId, id, cover);
        return { data: presentItem(row, urls), headers: { etag: entityTag(row) } };
      },
      cover.sha256,
    );
  } catch (error) {
    // A commit whose answer was lost may have happened.
    isNamed = !wasRolledBack(error);
    throw error;
  } finally {
    // A replayed answer names the files of the first request.
    if (!isNamed) await storage.removePrefix(`media/${cover.folder}`);
  }
  parts.onChange();
  return reply;
}
