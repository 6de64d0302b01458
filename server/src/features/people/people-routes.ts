/** Routes for an organization's people: listing, changing roles, removal. */
import type { Db } from '../../platform/database/database.ts';
import type { HttpApp } from '../../platform/http/app.ts';
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
import { changeRole, presentMember, removeMember, roleOf } from './members.ts';
import { countMembers, listMembers } from './queries.ts';
import { Person, PersonPatch, RemovedPerson } from './schemas.ts';

type Parts = { db: Db; cursors: ListCursors; mutations: Mutations };

const config = { access: 'secret' as const };
const tags = ['People'];

export function addPeopleRoutes(app: HttpApp, parts: Parts): void {
  addListRoute(app, parts);
  addRoleRoute(app, parts);
  addRemovalRoute(app, parts);
}

function addListRoute(app: HttpApp, { db, cursors }: Parts): void {
  app.get(
    '/v1/people',
    {
      config,
      schema: {
        operationId: 'listPeople',
        summary: 'List the people of the organization',
        description: 'Sorted by join date, newest first.',
        tags,
        querystring: Closed(pageQuery),
        response: answers({ 200: ListEnvelope(Person) }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      return readPage(cursors, { list: 'people', organizationId, filter: null }, request.query, {
        count: () => countMembers(db, organizationId),
        read: (limit, after) =>
          listMembers(db, organizationId, { limit, after: momentAndId(after) }),
        position: (row) => [row.position, row.person_id],
        present: presentMember,
      });
    },
  );
}

function addRoleRoute(app: HttpApp, { mutations }: Parts): void {
  app.patch(
    '/v1/people/:id',
    {
      config,
      schema: {
        operationId: 'updatePerson',
        summary: 'Change the role of a person',
        description:
          'Nobody can assign a role above their own or change a person above them. The last owner cannot be changed ' +
          '(409 `LAST_OWNER`). The new role takes effect with the next request.',
        tags,
        params: IdParams,
        body: PersonPatch,
        response: answers({ 200: Envelope(Person) }),
      },
    },
    async (request, reply) => {
      const principal = principalOf(request);
      const change = { own: roleOf(principal), role: request.body.role };
      return mutations.mutate(request, reply, async (tx) => ({
        data: presentMember(
          await changeRole(tx, principal.organizationId, request.params.id, change),
        ),
      }));
    },
  );
}

function addRemovalRoute(app: HttpApp, { mutations }: Parts): void {
  app.delete(
    '/v1/people/:id',
    {
      config,
      schema: {
        operationId: 'removePerson',
        summary: 'Remove a person from the organization',
        description:
          'The sessions of the person in the organization end immediately. An account without another organization is deleted.',
        tags,
        params: IdParams,
        response: answers({ 200: Envelope(RemovedPerson) }),
      },
    },
    async (request, reply) => {
      const principal = principalOf(request);
      return mutations.mutate(request, reply, async (tx) => {
        const { organizationId } = principal;
        const row = await removeMember(tx, organizationId, request.params.id, roleOf(principal));
        return { data: { id: row.person_id, removed: true } };
      });
    },
  );
}
