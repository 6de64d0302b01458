import { Type } from 'typebox';
import type { Db } from '../../platform/database/database.ts';
import { momentAndId, readPage, type ListCursors } from '../../platform/http/list-cursor.ts';
import { principalOf } from '../../platform/http/principal.ts';
import {
  answers,
  Closed,
  ListEnvelope,
  Nullable,
  OneOf,
  pageQuery,
  Timestamp,
} from '../../platform/http/schemas.ts';
import type { HttpApp } from '../../platform/http/app.ts';
import { formatTimestamp } from '../../platform/values/time.ts';
import { countPurges, listPurges, type PurgeRow } from '../content/item-sets/item-sets.ts';

const statuses = ['pending', 'complete'] as const;

const Purge = Type.Object(
  {
    contentId: Type.String(),
    status: OneOf(statuses),
    deletedAt: Timestamp,
    completedAt: Nullable(Timestamp),
  },
  { title: 'Purge' },
);

export function addPurgeRoutes(app: HttpApp, parts: { db: Db; cursors: ListCursors }): void {
  const { db, cursors } = parts;
  app.get(
    '/v1/purges',
    {
      config: { access: 'secret' },
      schema: {
        operationId: 'listPurges',
        summary: 'List permanently deleted items and the progress of their purge',
        description: 'Latest deletion first. Entries are kept for 30 days after the purge.',
        tags: ['Purges'],
        querystring: Closed({ ...pageQuery, status: Type.Optional(OneOf(statuses)) }),
        response: answers({ 200: ListEnvelope(Purge) }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { status = null, ...page } = request.query;
      return readPage(cursors, { list: 'purges', organizationId, filter: { status } }, page, {
        count: () => countPurges(db, organizationId, status),
        read: (limit, after) =>
          listPurges(db, organizationId, status, {
            limit,
            after: momentAndId(after),
          }),
        position: (row) => [row.position, row.content_id],
        present,
      });
    },
  );
}

function present(row: PurgeRow) {
  return {
    contentId: row.content_id,
    status: row.purged_at === null ? ('pending' as const) : ('complete' as const),
    deletedAt: formatTimestamp(row.deleted_at),
    completedAt: formatTimestamp(row.purged_at),
  };
}
