/** Routes for the sessions of an organization's people. */
import { Type } from 'typebox';
import type { Db } from '../../platform/database/database.ts';
import type { HttpApp } from '../../platform/http/app.ts';
import { ApiError } from '../../platform/http/errors.ts';
import { momentAndId, readPage, type ListCursors } from '../../platform/http/list-cursor.ts';
import { principalOf } from '../../platform/http/principal.ts';
import {
  answers,
  Closed,
  Envelope,
  IdParams,
  ListEnvelope,
  pageQuery,
} from '../../platform/http/schemas.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import { parseTypeId, type PersonId } from '../../platform/values/ids.ts';
import { formatTimestamp } from '../../platform/values/time.ts';
import { EndedSessions, PersonSession } from './schemas.ts';
import {
  countPersonSessions,
  endSessions,
  listSessions,
  type SessionRow,
} from './session-queries.ts';

type Parts = { db: Db; cursors: ListCursors; mutations: Mutations };

const config = { access: 'secret' as const };
const tags = ['People'];
const ofPerson = { personId: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })) };

export function presentSession(row: SessionRow, current: string | undefined) {
  return {
    id: row.session_id,
    person: { id: row.person_id, name: row.name, email: row.email },
    address: row.address,
    userAgent: row.user_agent,
    createdAt: formatTimestamp(row.created_at),
    lastUsedAt: formatTimestamp(row.last_used_at),
    expiresAt: formatTimestamp(row.expires_at),
    isCurrent: row.session_id === current,
  };
}

export function addSessionRoutes(app: HttpApp, parts: Parts): void {
  addListRoute(app, parts);
  addEndRoutes(app, parts);
}

function addListRoute(app: HttpApp, { db, cursors }: Parts): void {
  app.get(
    '/v1/sessions',
    {
      config,
      schema: {
        operationId: 'listSessions',
        summary: 'List the sessions of people in the organization',
        description: 'Returns active sessions, newest first.',
        tags,
        querystring: Closed({ ...pageQuery, ...ofPerson }),
        response: answers({ 200: ListEnvelope(PersonSession) }),
      },
    },
    async (request) => {
      const { organizationId, person } = principalOf(request);
      const { personId: id, ...page } = request.query;
      const filter = { organizationId, ...(id !== undefined && { personId: toPersonId(id) }) };
      const scope = { list: 'sessions', organizationId, filter: { personId: id ?? null } };
      return readPage(cursors, scope, page, {
        count: () => countPersonSessions(db, filter),
        read: (limit, after) => listSessions(db, filter, { limit, after: momentAndId(after) }),
        position: (row) => [row.position, row.session_id],
        present: (row) => presentSession(row, person?.sessionId),
      });
    },
  );
}

function addEndRoutes(app: HttpApp, { mutations }: Parts): void {
  app.delete(
    '/v1/sessions/:id',
    {
      config,
      schema: {
        operationId: 'endSession',
        summary: 'End a session',
        description: 'Every process rejects the session from the next request on.',
        tags,
        params: IdParams,
        response: answers({ 200: Envelope(EndedSessions) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const sessionId = parseTypeId('ses', request.params.id);
      return mutations.mutate(request, reply, async (tx) => {
        if (sessionId === null) throw new ApiError('NOT_FOUND');
        const ids = await endSessions(tx, { organizationId, sessionId });
        if (ids.length === 0) throw new ApiError('NOT_FOUND');
        return { data: { ids } };
      });
    },
  );
  app.delete(
    '/v1/sessions',
    {
      config,
      schema: {
        operationId: 'endSessions',
        summary: 'End all sessions of a person in the organization',
        tags,
        querystring: Closed({ personId: Type.String({ minLength: 1, maxLength: 100 }) }),
        response: answers({ 200: Envelope(EndedSessions) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const personId = toPersonId(request.query.personId);
      return mutations.mutate(request, reply, async (tx) => ({
        data: { ids: await endSessions(tx, { organizationId, personId }) },
      }));
    },
  );
}

/** @throws {ApiError} NOT_FOUND if the text is not a person id */
function toPersonId(id: string): PersonId {
  const personId = parseTypeId('per', id);
  if (personId === null) throw new ApiError('NOT_FOUND');
  return personId;
}
