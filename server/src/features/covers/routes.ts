import type { FastifyReply, FastifyRequest } from 'fastify';
import type { HttpApp } from '../../platform/http/app.ts';
import { principalOf } from '../../platform/http/principal.ts';
import { answers, Envelope, IdParams } from '../../platform/http/schemas.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import {
  ContentItem,
  entityTag,
  getItem,
  presentItem,
  type MediaUrls,
} from '../content/content.ts';
import { requirePicture } from '../content/item-media/item-media.ts';
import { imageForm, nameFiles, untilGone, type ImageParts } from '../images/images.ts';
import { discardRest } from '../uploads/uploads.ts';
import { removeCover, setUploadedCover } from './covers.ts';
import { receiveCover } from './receive-cover.ts';

export type CoverRouteParts = ImageParts & {
  mutations: Mutations;
  urls: MediaUrls;
  /** Called after a change is committed. */
  onChange: () => void;
};

const tags = ['Content'];

export function addCoverRoutes(app: HttpApp, parts: CoverRouteParts): void {
  app.put(
    '/v1/content/:id/cover',
    {
      config: { access: 'secret', streamsBody: true, describedBody: imageForm() },
      schema: {
        operationId: 'setCover',
        summary: 'Set an image as the thumbnail of a video',
        description:
          'The image is rotated upright, scaled, and stored as thumbnails without its metadata. ' +
          'To use a picture from the video instead, change `thumbnailTime`.',
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
        summary: 'Reset the thumbnail of a video to its first picture',
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

async function storeCover(
  parts: CoverRouteParts,
  request: FastifyRequest,
  reply: FastifyReply,
  id: string,
): Promise<FastifyReply> {
  const { organizationId } = principalOf(request);
  const video = await getItem(parts.db, organizationId, id);
  requirePicture(video, 'file');
  const owner = { organizationId, playbackId: video.playback_id };
  const cover = await receiveCover(parts, { request, signal: untilGone(reply) }, owner);
  const files = { folder: cover.folder, fingerprint: cover.sha256 };
  await nameFiles(parts, { request, reply }, files, async (tx) => {
    const row = await setUploadedCover(tx, organizationId, id, cover);
    return { data: presentItem(row, parts.urls), headers: { etag: entityTag(row) } };
  });
  parts.onChange();
  return reply;
}
