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
      type: OneOf(
        actors,
        '`service`: the service made the change itself, for example on a schedule.',
      ),
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
    resourceId: Nullable(Type.String({ description: 'Id of the changed resource.' })),
    changes: Type.Unknown({
      description:
        'The request body, with fields that the schema marks with `x-secret` replaced by `[secret]`. URLs ' +
        'of webhooks and imports omit their query strings. Null if the body ' +
        'was not JSON or exceeded 4 KiB.',
    }),
    differences: Nullable(
      Type.Object(
        {
          fields: Type.Array(
            Type.Object({
              field: Type.String({ examples: ['weights.recency', 'variants[1].traffic'] }),
              before: Type.Unknown({ description: 'Null if there was no value.' }),
              after: Type.Unknown({ description: 'Null if the value was removed.' }),
            }),
          ),
          omitted: Type.Integer({ description: 'Number of further fields that differ.' }),
        },
        {
          description:
            'The fields that the change affected, for the organization, the ranking ' +
            'configuration and rules, settings, flags, keys, webhooks, experiments, the holdout, and the roles of people. Secrets ' +
            `are hidden, strings are truncated to ${maxCharacters} characters, and at most ${maxFields} fields are listed. ` +
            'Null if nothing was compared or nothing differs.',
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
          'Newest first. Includes every change made by a secret key, a person, the command line or the ' +
          'service itself. Events and playback tokens do not count as changes. With `Accept: text/csv` or ' +
          '`application/x-ndjson`, the response is a file of all changes.',
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
