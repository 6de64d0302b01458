import type { Db } from '../../platform/database/database.ts';
import type { Hints } from '../../platform/hints/hints.ts';
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
import { parseTypeId } from '../../platform/values/ids.ts';
import { enqueue } from '../../platform/queue/queue.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import {
  countInvitations,
  deleteInvitation,
  findInvitation,
  listInvitations,
} from './invitation-queries.ts';
import { invite, presentInvitation, requireMayGive } from './invitations.ts';
import { sendInvitationJob } from './mail-jobs.ts';
import { roleOf } from './members.ts';
import { CreatedInvitation, DeletedInvitation, Invitation, NewInvitation } from './schemas.ts';

export type InvitationRouteParts = {
  readonly db: Db;
  readonly cursors: ListCursors;
  readonly mutations: Mutations;
  readonly hints: Hints;
  readonly vault: Vault;
  readonly publicUrl: string;
};

const config = { access: 'secret' as const };
const tags = ['People'];

export function addInvitationRoutes(app: HttpApp, parts: InvitationRouteParts): void {
  addInviteRoute(app, parts);
  addListRoute(app, parts);
  addWithdrawalRoute(app, parts);
}

function addInviteRoute(app: HttpApp, parts: InvitationRouteParts): void {
  const { mutations, hints, vault, publicUrl } = parts;
  app.post(
    '/v1/people/invitations',
    {
      config,
      schema: {
        operationId: 'createInvitation',
        summary: 'Invite a person',
        description:
          'Creates a link that works once within seven days, and sends it by mail if the operator has ' +
          'set `REELFEED_SMTP_URL`. A new invitation for the same address replaces it. Nobody can assign a ' +
          'role above their own; a secret key with scopes can assign at most `admin`.',
        tags,
        body: NewInvitation,
        response: answers({ 201: Envelope(CreatedInvitation) }),
      },
    },
    async (request, reply) => {
      const principal = principalOf(request);
      const { organizationId, callerId: invitedBy } = principal;
      requireMayGive(roleOf(principal), request.body.role);
      return mutations.mutate(request, reply, async (tx) => {
        const invitation = { ...request.body, organizationId, invitedBy };
        const made = await invite(tx, vault, publicUrl, invitation);
        await enqueue(tx, sendInvitationJob, { invitationId: made.id }, { organizationId });
        const onCommit = () => hints.give(sendInvitationJob.name);
        return { statusCode: 201, data: made, onCommit };
      });
    },
  );
}

function addListRoute(app: HttpApp, { db, cursors }: InvitationRouteParts): void {
  app.get(
    '/v1/people/invitations',
    {
      config,
      schema: {
        operationId: 'listInvitations',
        summary: 'List the open invitations',
        description:
          'Returns invitations that have neither been accepted nor expired, newest first.',
        tags,
        querystring: Closed(pageQuery),
        response: answers({ 200: ListEnvelope(Invitation) }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const scope = { list: 'invitations', organizationId, filter: null };
      return readPage(cursors, scope, request.query, {
        count: () => countInvitations(db, organizationId),
        read: (limit, after) =>
          listInvitations(db, organizationId, { limit, after: momentAndId(after) }),
        position: (row) => [row.position, row.invitation_id],
        present: presentInvitation,
      });
    },
  );
}

function addWithdrawalRoute(app: HttpApp, { mutations }: InvitationRouteParts): void {
  app.delete(
    '/v1/people/invitations/:id',
    {
      config,
      schema: {
        operationId: 'deleteInvitation',
        summary: 'Withdraw an invitation',
        description: 'Its link stops working.',
        tags,
        params: IdParams,
        response: answers({ 200: Envelope(DeletedInvitation) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      return mutations.mutate(request, reply, async (tx) => {
        const id = parseTypeId('inv', request.params.id);
        const found = id && (await findInvitation(tx, organizationId, id));
        if (id === null || found === null) throw new ApiError('NOT_FOUND');
        await deleteInvitation(tx, id);
        return { data: { id, deleted: true } };
      });
    },
  );
}
