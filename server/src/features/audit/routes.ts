import { Type } from 'typebox';
import type { Db } from '../../platform/database/database.ts';
import type { HttpApp } from '../../platform/http/app.ts';
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
import { formatTimestamp } from '../../platform/time.ts';
import { actors } from './audit.ts';
import { countEntries, listEntries, type EntryRow } from './queries.ts';

const AuditEntry = Type.Object(
  {
    id: Type.String({ examples: ['aud_01kabc5m8nfe8v8q1m2vr5t9zd'] }),
    recordedAt: Timestamp,
    action: Type.String({
      description: 'The `operationId` of the request, or a name of the same form.',
      examples: ['createWebhook'],
    }),
    actor: Type.Object({
      type: OneOf(actors, '`service`: the service did it by itself, such as by a schedule.'),
      keyId: Nullable(Type.String()),
      keyName: Nullable(Type.String()),
    }),
    resourceId: Nullable(Type.String({ description: 'Of what was changed.' })),
    changes: Type.Unknown({
      description:
        'The body of the request as its schema names it, with `[secret]` in place of what the schema ' +
        'marks by `x-secret`; URLs of webhooks and imports end before their query strings. Null when ' +
        'it was no JSON or over 4 KiB.',
    }),
    requestId: Nullable(Type.String()),
  },
  { title: 'AuditEntry' },
);

const filters = {
  action: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  keyId: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  resourceId: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
  since: Type.Optional(Timestamp),
  until: Type.Optional(Timestamp),
};

export function addAuditRoutes(app: HttpApp, parts: { db: Db; cursors: ListCursors }): void {
  const { db, cursors } = parts;
  app.get(
    '/v1/audit',
    {
      config: { access: 'secret' },
      schema: {
        operationId: 'listAudit',
        summary: 'List who changed what, when, from which key',
        description:
          'The latest change first. Every change by a secret key, by the command line and by the ' +
          'service itself; events and playback tokens are no changes.',
        tags: ['Audit'],
        querystring: Closed({ ...pageQuery, ...filters }),
        response: answers({ 200: ListEnvelope(AuditEntry) }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { limit, cursor, ...given } = request.query;
      const filter = {
        action: given.action ?? null,
        keyId: given.keyId ?? null,
        resourceId: given.resourceId ?? null,
        since: given.since ?? null,
        until: given.until ?? null,
      };
      const page = {
        ...(limit !== undefined && { limit }),
        ...(cursor !== undefined && { cursor }),
      };
      return readPage(cursors, { list: 'audit', organizationId, filter }, page, {
        count: () => countEntries(db, organizationId, filter),
        read: (limit, after) =>
          listEntries(db, organizationId, filter, {
            limit,
            after: momentAndId(after),
          }),
        position: (row) => [row.position, row.audit_id],
        present,
      });
    },
  );
}

function present(row: EntryRow) {
  return {
    id: row.audit_id,
    recordedAt: formatTimestamp(row.recorded_at),
    action: row.action,
    actor: { type: row.actor, keyId: row.api_key_id, keyName: row.key_name },
    resourceId: row.resource_id,
    changes: row.changes,
    requestId: row.request_id,
  };
}
