import { Readable } from 'node:stream';
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
import { formatTimestamp } from '../../platform/values/time.ts';
import { actors } from './actors.ts';
import { maxCharacters, maxFields } from './differences.ts';
import { fileFor, linesOf } from './export.ts';
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
      personId: Nullable(Type.String()),
      personName: Nullable(
        Type.String({ description: 'Null once the person has left the organization.' }),
      ),
      systemUser: Nullable(
        Type.String({
          description:
            'The account of the operating system that ran the command, for `command_line`.',
        }),
      ),
    }),
    resourceId: Nullable(Type.String({ description: 'Of what was changed.' })),
    changes: Type.Unknown({
      description:
        'The body of the request as its schema names it, with `[secret]` in place of what the schema ' +
        'marks by `x-secret`; URLs of webhooks and imports end before their query strings. Null when ' +
        'it was no JSON or over 4 KiB.',
    }),
    differences: Nullable(
      Type.Object(
        {
          fields: Type.Array(
            Type.Object({
              field: Type.String({ examples: ['weights.recency', 'variants[1].traffic'] }),
              before: Type.Unknown({ description: 'Null if there was no value.' }),
              after: Type.Unknown({ description: 'Null if there is no value any more.' }),
            }),
          ),
          omitted: Type.Integer({ description: 'How many more fields differ.' }),
        },
        {
          description:
            'The fields that differ before and after the change: of the organization, the ranking ' +
            'configuration and rules, settings, flags, keys, webhooks, experiments, the holdout, and roles of people. Secrets ' +
            `are hidden, texts end after ${maxCharacters} characters, and there are at most ${maxFields} fields. ` +
            'Null where nothing was compared or nothing differs.',
        },
      ),
    ),
    requestId: Nullable(Type.String()),
  },
  { title: 'AuditEntry' },
);

const filters = {
  action: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  keyId: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  personId: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
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
        summary: 'List who changed what, when, with which key or as which person',
        description:
          'The latest change first. Every change by a secret key, a person, the command line and the ' +
          'service itself; events and playback tokens are no changes. With `Accept: text/csv` or ' +
          '`application/x-ndjson` it answers with all of them as a file.',
        tags: ['Audit'],
        querystring: Closed({ ...pageQuery, ...filters }),
        response: answers({ 200: ListEnvelope(AuditEntry) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const { limit, cursor, ...given } = request.query;
      const filter = {
        action: given.action ?? null,
        keyId: given.keyId ?? null,
        personId: given.personId ?? null,
        resourceId: given.resourceId ?? null,
        since: given.since ?? null,
        until: given.until ?? null,
      };
      const file = fileFor(request.headers.accept, present);
      if (file !== null) {
        const lines = linesOf(file, (most, after) =>
          listEntries(db, organizationId, filter, { limit: most, after }),
        );
        return reply.type(file.contentType).send(Readable.from(lines));
      }
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
    actor: {
      type: row.actor,
      keyId: row.api_key_id,
      keyName: row.person_id === null ? row.caller_name : null,
      personId: row.person_id,
      personName: row.person_id === null ? null : row.caller_name,
      systemUser: row.system_user_name,
    },
    resourceId: row.resource_id,
    changes: row.changes,
    differences: row.differences,
    requestId: row.request_id,
  };
}
