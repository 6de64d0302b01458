import { Type } from 'typebox';
import type { Db } from '../../platform/database/database.ts';
import { readPage, type ListCursors } from '../../platform/http/list-cursor.ts';
import { principalOf } from '../../platform/http/principal.ts';
import { answers, Envelope, IdParams, ListEnvelope } from '../../platform/http/schemas.ts';
import type { HttpApp } from '../../platform/http/app.ts';
import type { Answer, Mutations } from '../../platform/idempotency/idempotency.ts';
import { isNotModified } from '../../platform/http/conditional.ts';
import { archive, getItem, patchItem, restoreItemOrThrow } from './content.ts';
import { requestCover } from './item-media/cover.ts';
import { entityTag, presentItem, type ItemRow, type MediaUrls } from './item.ts';
import { createItemCounter } from './list-count.ts';
import { isSelective, listItems, toFilter, type ListSort } from './list-queries.ts';
import { ContentGetQuery, ContentItem, ContentListQuery, ContentPatch } from './schemas.ts';

export type ContentRouteParts = {
  db: Db;
  cursors: ListCursors;
  mutations: Mutations;
  urls: MediaUrls;
  archiveRetentionMs: number;
  /** Called after a change is committed. */
  onChange: () => void;
  /** Called after a cover is requested. */
  onCover: () => void;
};

const tags = ['Content'];
const config = { access: 'secret' as const };

const IfMatch = Type.Object({
  'if-match': Type.Optional(Type.String({ description: '`ETag` of the version to change.' })),
});

const IfNoneMatch = Type.Object({
  'if-none-match': Type.Optional(
    Type.String({
      description: 'A known `ETag`. The response is 304 if the item has not changed.',
    }),
  ),
});

const NotModified = Type.Null({ description: 'The item still has the `ETag` in `If-None-Match`.' });

export function addContentRoutes(app: HttpApp, parts: ContentRouteParts): void {
  addListRoute(app, parts);
  addGetRoute(app, parts);
  addPatchRoute(app, parts);
  addArchiveRoute(app, parts);
  addRestoreRoute(app, parts);
}

function addListRoute(app: HttpApp, { db, cursors, urls }: ContentRouteParts): void {
  const count = createItemCounter(db);
  app.get(
    '/v1/content',
    {
      config,
      schema: {
        operationId: 'listContent',
        summary: 'List content items',
        description: 'Newest first unless `sort` says otherwise. Archived items are excluded.',
        tags,
        querystring: ContentListQuery,
        response: answers({ 200: ListEnvelope(ContentItem) }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { limit, cursor, sort: by = 'createdAt', order, ...conditions } = request.query;
      const filter = toFilter(conditions);
      const sort: ListSort = { by, order: order ?? (by === 'title' ? 'asc' : 'desc') };
      const scope = { list: 'content', organizationId, filter: { ...conditions, ...sort } };
      const page = {
        ...(limit !== undefined && { limit }),
        ...(cursor !== undefined && { cursor }),
      };
      const total = isSelective(filter) ? await count(organizationId, filter) : null;
      return readPage(cursors, scope, page, {
        count: async () => total ?? count(organizationId, filter),
        read: (limit, after) =>
          listItems(db, organizationId, filter, sort, {
            limit,
            after: after && { value: String(after[0]), contentId: String(after[1]) },
            total,
          }),
        position: (row) => [row.position, row.content_id],
        present: (row) => presentItem(row, urls),
      });
    },
  );
}

function addGetRoute(app: HttpApp, { db, urls }: ContentRouteParts): void {
  app.get(
    '/v1/content/:id',
    {
      config,
      schema: {
        operationId: 'getContent',
        summary: 'Get a content item',
        description:
          'With `archived`, also returns archived items; `archivedAt` is the time of archiving.',
        tags,
        params: IdParams,
        querystring: ContentGetQuery,
        headers: IfNoneMatch,
        response: answers({ 200: Envelope(ContentItem), 304: NotModified }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const withArchived = request.query.archived === 'true';
      const row = await getItem(db, organizationId, request.params.id, { withArchived });
      const etag = entityTag(row);
      reply.header('etag', etag);
      // Progress changes without a new version, so an item in processing is always sent.
      const isSettled = row.upload_status === 'ready' || row.upload_status === 'error';
      if (isSettled && isNotModified(request.headers, { etag })) return reply.status(304).send();
      return { data: presentItem(row, urls) };
    },
  );
}

/** A changed item with its new entity tag. */
function shown(row: ItemRow, urls: MediaUrls): Answer {
  return { data: presentItem(row, urls), headers: { etag: entityTag(row) } };
}

function addPatchRoute(
  app: HttpApp,
  { mutations, urls, onChange, onCover }: ContentRouteParts,
): void {
  app.patch(
    '/v1/content/:id',
    {
      config,
      schema: {
        operationId: 'updateContent',
        summary: 'Change a content item',
        description:
          '`tags` are replaced. `customMetadata` is merged; null removes a key. With `If-Match`, ' +
          'the change is rejected (412) if the item has changed since.',
        tags,
        params: IdParams,
        headers: IfMatch,
        body: ContentPatch,
        response: answers({ 200: Envelope(ContentItem) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const ifMatch = request.headers['if-match'];
      const { thumbnailTime, ...patch } = request.body;
      await mutations.mutate(request, reply, async (tx) => {
        const row = await patchItem(tx, organizationId, request.params.id, patch, { ifMatch });
        const isCover = thumbnailTime !== undefined;
        return shown(
          isCover ? await requestCover(tx, organizationId, row, thumbnailTime) : row,
          urls,
        );
      });
      if (thumbnailTime !== undefined) onCover();
      onChange();
      return reply;
    },
  );
}

function addArchiveRoute(app: HttpApp, { mutations, onChange }: ContentRouteParts): void {
  app.delete(
    '/v1/content/:id',
    {
      config,
      schema: {
        operationId: 'archiveContent',
        summary: 'Archive a content item',
        description:
          'The item disappears from the feed and from lists immediately and can be restored for 30 days.',
        tags,
        params: IdParams,
        headers: IfMatch,
        response: answers({
          200: Envelope(Type.Object({ id: Type.String(), archived: Type.Literal(true) })),
        }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const ifMatch = request.headers['if-match'];
      await mutations.mutate(request, reply, async (tx) => {
        await archive(tx, organizationId, request.params.id, { ifMatch });
        return { data: { id: request.params.id.toLowerCase(), archived: true } };
      });
      onChange();
      return reply;
    },
  );
}

function addRestoreRoute(app: HttpApp, parts: ContentRouteParts): void {
  const { mutations, urls, onChange } = parts;
  app.post(
    '/v1/content/:id/restore',
    {
      config,
      schema: {
        operationId: 'restoreContent',
        summary: 'Restore an archived content item',
        description: 'Possible for 30 days after archiving. The restored item is `unpublished`.',
        tags,
        params: IdParams,
        response: answers({ 200: Envelope(ContentItem) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      await mutations.mutate(request, reply, async (tx) =>
        shown(
          await restoreItemOrThrow(tx, organizationId, request.params.id, parts.archiveRetentionMs),
          urls,
        ),
      );
      onChange();
      return reply;
    },
  );
}
