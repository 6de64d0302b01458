/** Routes for signed-in people to manage their own account. Used only by the console. */
import { Type } from 'typebox';
import { inTransaction } from '../../platform/database/database.ts';
import type { HttpApp } from '../../platform/http/app.ts';
import { ApiError } from '../../platform/http/errors.ts';
import { principalOf } from '../../platform/http/principal.ts';
import { answers, Closed, Envelope, IdParams, Nullable } from '../../platform/http/schemas.ts';
import { parseTypeId } from '../../platform/values/ids.ts';
import type { ProofParts } from './accounts.ts';
import { checkPassword, hashPassword } from './password.ts';
import { proveAgain, signedIn } from './prove-again.ts';
import { findAccountById, listOwnOrganizations, setName, setPassword } from './queries.ts';
import { auditEverywhere } from './resets.ts';
import {
  Code,
  EndedSessions,
  GivenPassword,
  NewPassword,
  PersonName,
  RoleName,
  PersonSession,
} from './schemas.ts';
import { beginTotp, confirmTotp, removeTotp } from './second-factor.ts';
import { presentSession } from './session-routes.ts';
import { endSessions, listSessions, moveSession } from './session-queries.ts';

const config = { access: 'person' as const };
const maxOwnSessions = 100;
const Done = Envelope(Type.Object({ changed: Type.Boolean() }));

const Account = Type.Object({
  id: Type.String(),
  email: Type.String(),
  name: PersonName,
  role: RoleName,
  organizationId: Type.String(),
  hasPassword: Type.Boolean(),
  hasSecondFactor: Type.Boolean(),
  organizations: Type.Array(
    Type.Object({ id: Type.String(), name: Type.String(), role: RoleName }),
  ),
});

export function addAccountRoutes(app: HttpApp, parts: ProofParts): void {
  addProfileRoutes(app, parts);
  addPasswordRoute(app, parts);
  addOwnSessionRoutes(app, parts);
  addTotpRoutes(app, parts);
}

function addProfileRoutes(app: HttpApp, { db }: ProofParts): void {
  app.get(
    '/console/account',
    {
      // The console calls this for any session, and a secret key has no account.
      config: { access: 'secret', scope: 'organization:read' },
      schema: { hide: true, response: answers({ 200: Envelope(Nullable(Account)) }) },
    },
    async (request) => {
      const { organizationId, person } = principalOf(request);
      const account = person && (await findAccountById(db, person.personId));
      if (person === null || account === null) return { data: null };
      const { email, name, passwordHash, totpSecret } = account;
      return {
        data: {
          id: person.personId,
          email,
          name,
          role: person.role,
          organizationId,
          hasPassword: passwordHash !== null,
          hasSecondFactor: totpSecret !== null,
          organizations: await listOwnOrganizations(db, person.personId),
        },
      };
    },
  );
  app.patch(
    '/console/account',
    {
      config,
      schema: { hide: true, body: Closed({ name: PersonName }), response: answers({ 200: Done }) },
    },
    async (request) => {
      const { personId } = signedIn(principalOf(request));
      await inTransaction(db, (tx) => setName(tx, personId, request.body.name));
      return { data: { changed: true } };
    },
  );
  app.post(
    '/console/account/organization',
    {
      config,
      schema: {
        hide: true,
        body: Closed({ organizationId: Type.String({ maxLength: 100 }) }),
        response: answers({ 200: Done }),
      },
    },
    async (request) => {
      const { personId, sessionId } = signedIn(principalOf(request));
      const organizationId = parseTypeId('org', request.body.organizationId);
      const own = await listOwnOrganizations(db, personId);
      if (organizationId === null || !own.some(({ id }) => id === organizationId)) {
        throw new ApiError('NOT_FOUND');
      }
      await inTransaction(db, (tx) => moveSession(tx, sessionId, organizationId));
      return { data: { changed: true } };
    },
  );
}

function addPasswordRoute(app: HttpApp, parts: ProofParts): void {
  const { db } = parts;
  app.post(
    '/console/account/password',
    {
      config,
      schema: {
        hide: true,
        body: Closed({
          current: GivenPassword,
          password: NewPassword,
          code: Type.Optional(Code),
        }),
        response: answers({ 200: Done }),
      },
    },
    async (request) => {
      const { personId, sessionId } = signedIn(principalOf(request));
      const { current, password, code } = request.body;
      const { client } = request;
      const proof = { client, body: { password: current, code } };
      const { email } = await proveAgain(parts, personId, proof);
      checkPassword(password, email);
      const hash = await hashPassword(password);
      await inTransaction(db, async (tx) => {
        await setPassword(tx, personId, hash);
        // Ends the sessions of anyone who knew the old password.
        await endSessions(tx, { personId, except: sessionId });
        await auditEverywhere(tx, personId, 'changePassword', {
          type: 'person',
          personId,
          requestId: request.id,
        });
      });
      return { data: { changed: true } };
    },
  );
}

function addOwnSessionRoutes(app: HttpApp, { db }: ProofParts): void {
  app.get(
    '/console/account/sessions',
    {
      config,
      schema: { hide: true, response: answers({ 200: Envelope(Type.Array(PersonSession)) }) },
    },
    async (request) => {
      const { personId, sessionId } = signedIn(principalOf(request));
      const rows = await listSessions(db, { personId }, { limit: maxOwnSessions, after: null });
      return { data: rows.map((row) => presentSession(row, sessionId)) };
    },
  );
  app.delete(
    '/console/account/sessions/:id',
    {
      config,
      schema: { hide: true, params: IdParams, response: answers({ 200: Envelope(EndedSessions) }) },
    },
    async (request) => {
      const { personId } = signedIn(principalOf(request));
      const sessionId = parseTypeId('ses', request.params.id);
      if (sessionId === null) throw new ApiError('NOT_FOUND');
      const ids = await inTransaction(db, (tx) => endSessions(tx, { personId, sessionId }));
      if (ids.length === 0) throw new ApiError('NOT_FOUND');
      return { data: { ids } };
    },
  );
}

function addTotpRoutes(app: HttpApp, parts: ProofParts): void {
  const { db, vault } = parts;
  const Proven = Closed({ password: GivenPassword, code: Type.Optional(Code) });
  app.post(
    '/console/account/totp',
    {
      config,
      schema: {
        hide: true,
        body: Proven,
        response: answers({
          200: Envelope(Type.Object({ secret: Type.String(), url: Type.String() })),
        }),
      },
    },
    async (request) => {
      const { personId } = signedIn(principalOf(request));
      const account = await proveAgain(parts, personId, request);
      return { data: await inTransaction(db, (tx) => beginTotp(tx, vault, account)) };
    },
  );
  app.post(
    '/console/account/totp/confirm',
    {
      config,
      schema: {
        hide: true,
        body: Closed({ code: Code }),
        response: answers({
          200: Envelope(Type.Object({ recoveryCodes: Type.Array(Type.String()) })),
        }),
      },
    },
    async (request) => {
      const { personId } = signedIn(principalOf(request));
      await parts.attempts.take('sign-in', request.client.address, personId);
      const recoveryCodes = await inTransaction(db, async (tx) => {
        const codes = await confirmTotp(tx, vault, personId, request.body.code);
        await auditEverywhere(tx, personId, 'addSecondFactor', {
          type: 'person',
          personId,
          requestId: request.id,
        });
        return codes;
      });
      return { data: { recoveryCodes } };
    },
  );
  app.delete(
    '/console/account/totp',
    { config, schema: { hide: true, body: Proven, response: answers({ 200: Done }) } },
    async (request) => {
      const { personId } = signedIn(principalOf(request));
      await proveAgain(parts, personId, request);
      await inTransaction(db, async (tx) => {
        await removeTotp(tx, personId);
        await auditEverywhere(tx, personId, 'removeSecondFactor', {
          type: 'person',
          personId,
          requestId: request.id,
        });
      });
      return { data: { changed: true } };
    },
  );
}
