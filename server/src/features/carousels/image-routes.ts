/** Routes for the images of an image carousel. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { HttpApp } from '../../platform/http/app.ts';
import { principalOf } from '../../platform/http/principal.ts';
import { answers, Envelope, IdParams } from '../../platform/http/schemas.ts';
import { CarouselImage, entityTag, presentImages } from '../content/content.ts';
import { imageForm, nameFiles, untilGone } from '../images/images.ts';
import { discardRest } from '../uploads/uploads.ts';
import { addImage, orderImages, removeImage, requireImageRoom } from './carousels.ts';
import { maxAltTextLength, receiveImage } from './receive-image.ts';
import { carouselConfig, carouselTags, type CarouselRouteParts } from './route-parts.ts';
import { ImageOrder, ImageParams, Removed } from './schemas.ts';

export function addImageRoutes(app: HttpApp, parts: CarouselRouteParts): void {
  addImageRoute(app, parts);
  addImageChangeRoutes(app, parts);
}

const bodyOfImage = imageForm({ altText: { type: 'string', maxLength: maxAltTextLength } });

function addImageRoute(app: HttpApp, parts: CarouselRouteParts): void {
  app.post(
    '/v1/content/:id/images',
    {
      config: { access: 'secret', streamsBody: true, describedBody: bodyOfImage },
      schema: {
        operationId: 'addCarouselImage',
        summary: 'Add an image to an image carousel',
        description:
          'The image is rotated upright, scaled, and stored without its metadata. A carousel has at most 10 images. ' +
          'Decoding capacity is shared fairly between organizations. If too many images are waiting, the response is 503 with Retry-After.',
        tags: carouselTags,
        consumes: ['multipart/form-data'],
        params: IdParams,
        response: answers({ 201: Envelope(CarouselImage) }),
      },
    },
    async (request, reply) => {
      try {
        return await storeImage(parts, request, reply, request.params.id);
      } finally {
        discardRest(request);
      }
    },
  );
}

async function storeImage(
  parts: CarouselRouteParts,
  request: FastifyRequest,
  reply: FastifyReply,
  id: string,
): Promise<FastifyReply> {
  const { organizationId } = principalOf(request);
  const { playback_id: playbackId } = await requireImageRoom(parts.db, organizationId, id);
  const owner = { organizationId, playbackId };
  const image = await receiveImage(parts, { request, signal: untilGone(reply) }, owner);
  const fingerprint = JSON.stringify([image.altText, image.sha256]);
  await nameFiles(parts, { request, reply }, { folder: image.folder, fingerprint }, async (tx) => {
    const row = await addImage(tx, organizationId, id, image);
    const data = presentImages(row, parts.urls).find((one) => one.id === image.imageId);
    return { statusCode: 201, headers: { etag: entityTag(row) }, data };
  });
  parts.onChange();
  return reply;
}

function addImageChangeRoutes(app: HttpApp, parts: CarouselRouteParts): void {
  const { mutations, urls, onChange } = parts;
  app.put(
    '/v1/content/:id/images/order',
    {
      config: carouselConfig,
      schema: {
        operationId: 'orderCarouselImages',
        summary: 'Reorder the images of an image carousel',
        tags: carouselTags,
        params: IdParams,
        body: ImageOrder,
        response: answers({ 200: Envelope(Type.Array(CarouselImage)) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const { imageIds } = request.body;
      await mutations.mutate(request, reply, async (tx) => {
        const row = await orderImages(tx, organizationId, request.params.id, imageIds);
        return { data: presentImages(row, urls), headers: { etag: entityTag(row) } };
      });
      onChange();
      return reply;
    },
  );
  app.delete(
    '/v1/content/:id/images/:imageId',
    {
      config: carouselConfig,
      schema: {
        operationId: 'removeCarouselImage',
        summary: 'Remove an image from an image carousel',
        tags: carouselTags,
        params: ImageParams,
        response: answers({ 200: Removed }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const { id, imageId } = request.params;
      await mutations.mutate(request, reply, async (tx) => {
        await removeImage(tx, organizationId, id, imageId);
        return { data: { id: imageId.toLowerCase(), deleted: true } };
      });
      onChange();
      return reply;
    },
  );
}
