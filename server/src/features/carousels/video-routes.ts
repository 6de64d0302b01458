/** Routes for the videos of a video carousel. */
import { Type } from 'typebox';
import { fieldError } from '../../platform/http/errors.ts';
import type { HttpApp } from '../../platform/http/app.ts';
import { principalOf } from '../../platform/http/principal.ts';
import { answers, Envelope, IdParams } from '../../platform/http/schemas.ts';
import { findEntries, getItem } from '../content/content.ts';
import { addVideos, orderVideos, removeVideo } from './carousels.ts';
import { carouselConfig, carouselTags, type CarouselRouteParts } from './route-parts.ts';
import { AddVideos, Entry, EntryParams, Removed, VideoOrder } from './schemas.ts';

const response = answers({ 200: Envelope(Type.Array(Entry)) });

export function addVideoRoutes(app: HttpApp, parts: CarouselRouteParts): void {
  const { db, mutations, onChange } = parts;
  addVideoChangeRoutes(app, parts);
  app.get(
    '/v1/content/:id/videos',
    {
      config: carouselConfig,
      schema: {
        operationId: 'listCarouselVideos',
        summary: 'List the entries of a video carousel',
        tags: carouselTags,
        params: IdParams,
        response,
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { content_id: id } = await getItem(db, organizationId, request.params.id);
      return { data: await findEntries(db, organizationId, id) };
    },
  );
  app.post(
    '/v1/content/:id/videos',
    {
      config: carouselConfig,
      schema: {
        operationId: 'addCarouselVideos',
        summary: 'Add videos to a video carousel',
        description:
          'Accepts ready videos without repetition. A carousel has at most 10 entries. Returns all entries in order.',
        tags: carouselTags,
        params: IdParams,
        body: AddVideos,
        response: answers({ 201: Envelope(Type.Array(Entry)) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const { videos, contentIds } = request.body;
      if (videos !== undefined && contentIds !== undefined) {
        throw fieldError('contentIds', 'cannot be combined with videos');
      }
      const added = videos ?? contentIds?.map((contentId) => ({ contentId })) ?? [];
      await mutations.mutate(request, reply, async (tx) => ({
        statusCode: 201,
        data: await addVideos(tx, organizationId, request.params.id, added),
      }));
      onChange();
      return reply;
    },
  );
}

function addVideoChangeRoutes(app: HttpApp, { mutations, onChange }: CarouselRouteParts): void {
  app.put(
    '/v1/content/:id/videos/order',
    {
      config: carouselConfig,
      schema: {
        operationId: 'orderCarouselVideos',
        summary: 'Reorder the videos of a video carousel',
        tags: carouselTags,
        params: IdParams,
        body: VideoOrder,
        response,
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const { entryIds } = request.body;
      await mutations.mutate(request, reply, async (tx) => ({
        data: await orderVideos(tx, organizationId, request.params.id, entryIds),
      }));
      onChange();
      return reply;
    },
  );
  app.delete(
    '/v1/content/:id/videos/:entryId',
    {
      config: carouselConfig,
      schema: {
        operationId: 'removeCarouselVideo',
        summary: 'Remove a video from a video carousel',
        tags: carouselTags,
        params: EntryParams,
        response: answers({ 200: Removed }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const { id, entryId } = request.params;
      await mutations.mutate(request, reply, async (tx) => {
        await removeVideo(tx, organizationId, id, entryId);
        return { data: { id: entryId.toLowerCase(), deleted: true } };
      });
      onChange();
      return reply;
    },
  );
}
