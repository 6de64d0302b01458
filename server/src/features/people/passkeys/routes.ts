/** Registering, listing, removing and using passkeys. Used only by the console. */
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { inTransaction } from '../../../platform/database/database.ts';
import type { HttpApp } from '../../../platform/http/app.ts';
import { ApiError } from '../../../platform/http/errors.ts';
import { principalOf } from '../../../platform/http/principal.ts';
import { answers, Closed, Envelope, IdParams } from '../../../platform/http/schemas.ts';
import {
  newTypeId,
  parseTypeId,
  type PersonId,
  type SessionId,
} from '../../../platform/values/ids.ts';
import { formatTimestamp } from '../../../platform/values/time.ts';
import type { ProofParts } from '../accounts.ts';
import { peopleErrors } from '../errors.ts';
import { proveAgain, signedIn } from '../prove-again.ts';
import { findLatestOrganization } from '../queries.ts';
import { auditEverywhere } from '../resets.ts';
import { Code, GivenPassword } from '../schemas.ts';
import { requireConsole, type PersonSessions } from '../sessions.ts';
import { hashToken, newToken } from '../tokens.ts';
import {
  ceremonySeconds,
  readAssertion,
  readRegistration,
  registrationOptions,
  signInOptions,
  type RelyingParty,
} from './ceremony.ts';
import { ceremonyCookie, readCeremony } from './cookie.ts';
import {
  deletePasskey,
  findCredential,
  insertCeremony,
  insertPasskey,
  listPasskeys,
  takeCeremony,
  usePasskey,
  type PasskeyRow,
} from './queries.ts';
import { Assertion, Attestation, CeremonyOptions, Passkey, PasskeyName } from './schemas.ts';

type Parts = ProofParts & {
  readonly sessions: PersonSessions;
  readonly publicUrl: string;
  /** Whether single sign-on is the only way to sign in. */
  readonly isClosed: boolean;
};

const ofPerson = { access: 'person' } as const;
const atDoor = { access: 'public' } as const;
const maxPasskeys = 20;
const Proven = { password: GivenPassword, code: Type.Optional(Code) };

export function addPasskeyRoutes(app: HttpApp, parts: Parts, party: RelyingParty): void {
  addOwnRoutes(app, parts);
  addRegistrationRoutes(app, parts, party);
  addSignInRoutes(app, parts, party);
}

function addOwnRoutes(app: HttpApp, parts: Parts): void {
  const { db } = parts;
  app.get(
    '/console/account/passkeys',
    {
      config: ofPerson,
      schema: { hide: true, response: answers({ 200: Envelope(Type.Array(Passkey)) }) },
    },
    async (request) => {
      const { personId } = signedIn(principalOf(request));
      return { data: (await listPasskeys(db, personId)).map(present) };
    },
  );
  app.delete(
    '/console/account/passkeys/:id',
    {
      config: ofPerson,
      schema: {
        hide: true,
        params: IdParams,
        body: Closed(Proven),
        response: answers({ 200: Envelope(Type.Object({ removed: Type.Boolean() })) }),
      },
    },
    async (request) => {
      const { personId } = signedIn(principalOf(request));
      await proveAgain(parts, personId, request);
      const passkeyId = parseTypeId('psk', request.params.id);
      await inTransaction(db, async (tx) => {
        const isRemoved = passkeyId !== null && (await deletePasskey(tx, personId, passkeyId));
        if (!isRemoved) throw new ApiError('NOT_FOUND');
        await auditEverywhere(tx, personId, 'removePasskey', byPerson(personId, request));
      });
      return { data: { removed: true } };
    },
  );
}

function addRegistrationRoutes(app: HttpApp, parts: Parts, party: RelyingParty): void {
  const { db, publicUrl } = parts;
  app.post(
    '/console/account/passkeys/start',
    {
      config: ofPerson,
      schema: {
        hide: true,
        body: Closed(Proven),
        response: answers({ 200: Envelope(CeremonyOptions) }),
      },
    },
    async (request, reply) => {
      requireOpen(parts);
      const { personId, sessionId } = signedIn(principalOf(request));
      const account = await proveAgain(parts, personId, request);
      const token = newToken();
      const known = await listPasskeys(db, personId);
      const data = await registrationOptions(party, account, known, token);
      await insertCeremony(db, hashToken(token), sessionId, ceremonySeconds);
      return reply.header('set-cookie', ceremonyCookie(publicUrl, token)).send({ data });
    },
  );
  app.post(
    '/console/account/passkeys',
    {
      config: ofPerson,
      schema: {
        hide: true,
        body: Closed({ name: PasskeyName, credential: Attestation }),
        response: answers({ 201: Envelope(Passkey) }),
      },
    },
    async (request, reply) => {
      requireOpen(parts);
      const { personId, sessionId } = signedIn(principalOf(request));
      const { name, credential } = request.body;
      const token = await takeToken(parts, request, sessionId);
      if (token === null) throw new ApiError(peopleErrors.PASSKEY_REFUSED);
      const made = await readRegistration(party, token, credential).catch((cause: unknown) => {
        throw new ApiError(peopleErrors.PASSKEY_REFUSED, { cause });
      });
      const passkeyId = newTypeId('psk');
      const rows = await inTransaction(db, async (tx) => {
        if (!(await insertPasskey(tx, { ...made, passkeyId, personId, name }, maxPasskeys))) {
          throw new ApiError('CONFLICT', {
            message: `The passkey already belongs to an account, or this account already has ${maxPasskeys} passkeys.`,
          });
        }
        await auditEverywhere(tx, personId, 'addPasskey', byPerson(personId, request));
        return listPasskeys(tx, personId);
      });
      const row = rows.find(({ passkey_id: id }) => id === passkeyId);
      if (row === undefined) throw new ApiError('NOT_FOUND');
      return reply
        .status(201)
        .header('set-cookie', ceremonyCookie(publicUrl, ''))
        .send({ data: present(row) });
    },
  );
}

function addSignInRoutes(app: HttpApp, parts: Parts, party: RelyingParty): void {
  const { db, attempts, sessions, publicUrl } = parts;
  app.post(
    '/console/account/passkey/start',
    {
      config: atDoor,
      schema: { hide: true, response: answers({ 200: Envelope(CeremonyOptions) }) },
    },
    async (request, reply) => {
      requireConsole(request);
      requireOpen(parts);
      await attempts.take('sign-in', request.client.address, null);
      const token = newToken();
      const data = await signInOptions(party, token);
      await insertCeremony(db, hashToken(token), null, ceremonySeconds);
      return reply.header('set-cookie', ceremonyCookie(publicUrl, token)).send({ data });
    },
  );
  app.post(
    '/console/account/passkey',
    {
      config: atDoor,
      schema: {
        hide: true,
        body: Closed({ credential: Assertion }),
        response: answers({ 200: Envelope(Type.Object({ signedIn: Type.Boolean() })) }),
      },
    },
    async (request, reply) => {
      requireConsole(request);
      requireOpen(parts);
      await attempts.take('sign-in', request.client.address, null);
      const personId = await signInByPasskey(parts, party, request, request.body.credential);
      const organizationId = await findLatestOrganization(db, personId);
      // The last membership was just removed, and the account with it.
      if (organizationId === null) throw new ApiError(peopleErrors.PASSKEY_FAILED);
      const session = await sessions.start(request, { personId, organizationId });
      return reply
        .header('set-cookie', [session, ceremonyCookie(publicUrl, '')])
        .send({ data: { signedIn: true } });
    },
  );
}

/** @throws {ApiError} PASSKEY_FAILED, without the reason, which is only logged */
async function signInByPasskey(
  parts: Parts,
  party: RelyingParty,
  request: FastifyRequest,
  answer: Parameters<typeof readAssertion>[3],
): Promise<PersonId> {
  const { db, attempts } = parts;
  const token = await takeToken(parts, request, null);
  const credential = await findCredential(db, Buffer.from(answer.id, 'base64url'));
  if (token === null || credential === null) throw new ApiError(peopleErrors.PASSKEY_FAILED);
  const { passkeyId, personId, email } = credential;
  try {
    const counter = await readAssertion(party, token, credential, answer);
    if (!(await usePasskey(db, passkeyId, counter)))
      throw new Error('the signature counter did not increase');
  } catch (cause) {
    // A counter that decreases may mean that the key was cloned.
    request.log.warn({ passkeyId, err: cause }, 'passkey rejected');
    throw new ApiError(peopleErrors.PASSKEY_FAILED, { cause });
  }
  await attempts.forget('sign-in', email);
  return personId;
}

/** Returns the token of the ceremony that this browser started, and consumes it. */
async function takeToken(
  { db }: Parts,
  request: FastifyRequest,
  sessionId: SessionId | null,
): Promise<string | null> {
  const token = readCeremony(request);
  return token !== null && (await takeCeremony(db, hashToken(token), sessionId)) ? token : null;
}

/** @throws {ApiError} PASSWORD_SIGN_IN_CLOSED */
function requireOpen({ isClosed }: Parts): void {
  if (isClosed) throw new ApiError(peopleErrors.PASSWORD_SIGN_IN_CLOSED);
}

function byPerson(personId: PersonId, { id: requestId }: FastifyRequest) {
  return { type: 'person', personId, requestId } as const;
}

function present({ passkey_id: id, name, created_at, last_used_at }: PasskeyRow) {
  return {
    id,
    name,
    createdAt: formatTimestamp(created_at),
    lastUsedAt: last_used_at && formatTimestamp(last_used_at),
  };
}
