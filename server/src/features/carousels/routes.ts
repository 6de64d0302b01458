import type { HttpApp } from '../../platform/http/app.ts';
import { principalOf } from '../../platform/http/principal.ts';
import { answers, Envelope } from '../../platform/http/schemas.ts';
import {
  ContentItem,
  createCarousel,
  entityTag,
  NewCarousel,
  presentItem,
} from '../content/content.ts';
import { addImageRoutes } from './image-routes.ts';
import { carouselConfig, carouselTags, type CarouselRouteParts } from './route-parts.ts';
import { addVideoRoutes } from './video-routes.ts';

export function addCarouselRoutes(app: HttpApp, parts: CarouselRouteParts): void {
  addCreateRoute(app, parts);
  addVideoRoutes(app, parts);
  addImageRoutes(app, parts);
}

function addCreateRoute(app: HttpApp, { mutations, urls, onChange }: CarouselRouteParts): void {
  app.post(
    '/v1/content',
    {
      config: carouselConfig,
      schema: {
        operationId: 'createCarousel',
        summary: 'Create an image carousel or a video carousel',
        description:
          'The carousel is ready immediately. It appears in the feed once it contains an image, or a video that is ' +
          'itself in the feed.',
        tags: carouselTags,
        body: NewCarousel,
        response: answers({ 201: Envelope(ContentItem) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      await mutations.mutate(request, reply, async (tx) => {
        const row = await createCarousel(tx, organizationId, request.body);
        return {
          statusCode: 201,
          headers: { location: `/v1/content/${row.content_id}`, etag: entityTag(row) },
          data: presentItem(row, urls),
        };
      });
      onChange();
      return reply;
    },
  );
}
