/**
 * Routes for signing in, used before there is a session. Only the console's page calls them, so
 * they are not part of the API. Each requires the console's header: otherwise, another site could
 * sign a visitor in with that site's own account.
 */
import { Type } from 'typebox';
import { inTransaction } from '../../platform/database/database.ts';
import type { Hints } from '../../platform/hints/hints.ts';
import type { HttpApp } from '../../platform/http/app.ts';
import { ApiError } from '../../platform/http/errors.ts';
import { answers, Closed, Envelope, Nullable } from '../../platform/http/schemas.ts';
import { enqueue } from '../../platform/queue/queue.ts';
import { listOrganizations } from '../organizations/organizations.ts';
import { signIn, type ProofParts } from './accounts.ts';
import { acceptInvitation, normalEmail, readInvitation } from './invitations.ts';
import { sendResetJob } from './mail-jobs.ts';
import { peopleErrors } from './errors.ts';
import { hasAnyone } from './queries.ts';
import { resetPassword } from './resets.ts';
import { Code, Email, GivenPassword, NewPassword, PersonName, RoleName, Token } from './schemas.ts';
import { requireConsole, type PersonSessions } from './sessions.ts';
import type { SingleSignOnConfig } from './single-sign-on/settings.ts';

export type DoorParts = ProofParts & {
  readonly sessions: PersonSessions;
  readonly hints: Hints;
  readonly hasMail: boolean;
  readonly hasPasskeys: boolean;
  readonly singleSignOn: SingleSignOnConfig | null;
};

const config = { access: 'public' as const };
const SignedIn = Envelope(Type.Object({ signedIn: Type.Boolean() }));
const Door = Type.Object({
  hasPeople: Type.Boolean(),
  hasMail: Type.Boolean(),
  hasPasskeys: Type.Boolean(),
  singleSignOn: Nullable(Type.Object({ name: Type.String(), isOnly: Type.Boolean() })),
});

export function addDoorRoutes(app: HttpApp, parts: DoorParts): void {
  addSignInRoute(app, parts);
  addInvitationRoutes(app, parts);
  addResetRoutes(app, parts);
}

/** @throws {ApiError} PASSWORD_SIGN_IN_CLOSED */
function requirePasswords({ singleSignOn }: DoorParts): void {
  if (singleSignOn?.isOnly === true) throw new ApiError(peopleErrors.PASSWORD_SIGN_IN_CLOSED);
}

function addSignInRoute(app: HttpApp, parts: DoorParts): void {
  app.get(
    '/console/account/door',
    {
      config,
      schema: {
        hide: true,
        response: answers({ 200: Envelope(Door) }),
      },
    },
    async () => ({
      data: {
        hasPeople: await hasAnyone(parts.db),
        hasMail: parts.hasMail,
        hasPasskeys: parts.hasPasskeys,
        singleSignOn: parts.singleSignOn && {
          name: parts.singleSignOn.name,
          isOnly: parts.singleSignOn.isOnly,
        },
      },
    }),
  );
  app.post(
    '/console/account/sign-in',
    {
      config,
      schema: {
        hide: true,
        body: Closed({ email: Email, password: GivenPassword, code: Type.Optional(Code) }),
        response: answers({ 200: SignedIn }),
      },
    },
    async (request, reply) => {
      requireConsole(request);
      requirePasswords(parts);
      const { email, password, code } = request.body;
      const proof = { email: normalEmail(email), password, code, address: request.client.address };
      const cookie = await parts.sessions.start(request, await signIn(parts, proof));
      return reply.header('set-cookie', cookie).send({ data: { signedIn: true } });
    },
  );
}

function addInvitationRoutes(app: HttpApp, parts: DoorParts): void {
  const Invited = Type.Object({
    organization: Type.String(),
    email: Email,
    role: RoleName,
    hasAccount: Type.Boolean(),
  });
  app.post(
    '/console/account/invitation',
    {
      config,
      schema: {
        hide: true,
        body: Closed({ token: Token }),
        response: answers({ 200: Envelope(Invited) }),
      },
    },
    async (request) => {
      requireConsole(request);
      await parts.attempts.take('link', request.client.address, null);
      return { data: await readInvitation(parts.db, request.body.token) };
    },
  );
  app.post(
    '/console/account/accept',
    {
      config,
      schema: {
        hide: true,
        body: Closed({
          token: Token,
          name: Type.Optional(PersonName),
          password: GivenPassword,
          code: Type.Optional(Code),
        }),
        response: answers({ 200: SignedIn }),
      },
    },
    async (request, reply) => {
      requireConsole(request);
      const person = await parts.sessions.personOf(request);
      // A person who is already signed in came through single sign-on.
      if (person === null) requirePasswords(parts);
      const accepted = await acceptInvitation(parts, {
        ...request.body,
        address: request.client.address,
        signedIn: person?.person?.personId ?? null,
        requestId: request.id,
      });
      return reply
        .header('set-cookie', await parts.sessions.start(request, accepted))
        .send({ data: { signedIn: true } });
    },
  );
}

function addResetRoutes(app: HttpApp, parts: DoorParts): void {
  const { db, attempts, hints, hasMail } = parts;
  app.post(
    '/console/account/reset-request',
    {
      config,
      schema: {
        hide: true,
        body: Closed({ email: Email }),
        response: answers({ 202: Envelope(Type.Object({ hasMail: Type.Boolean() })) }),
      },
    },
    async (request, reply) => {
      requireConsole(request);
      requirePasswords(parts);
      const email = normalEmail(request.body.email);
      await attempts.take('reset', request.client.address, email);
      await inTransaction(db, async (tx) => {
        // A job belongs to an organization, but the address may belong to none.
        const [first] = await listOrganizations(tx, 1);
        if (first === undefined) return;
        await enqueue(tx, sendResetJob, { email }, { organizationId: first.organization_id });
      });
      hints.give(sendResetJob.name);
      return reply.status(202).send({ data: { hasMail } });
    },
  );
  app.post(
    '/console/account/reset',
    {
      config,
      schema: {
        hide: true,
        body: Closed({ token: Token, password: NewPassword }),
        response: answers({ 200: Envelope(Type.Object({ changed: Type.Boolean() })) }),
      },
    },
    async (request) => {
      requireConsole(request);
      requirePasswords(parts);
      await attempts.take('link', request.client.address, null);
      await resetPassword(db, { ...request.body, requestId: request.id });
      return { data: { changed: true } };
    },
  );
}
