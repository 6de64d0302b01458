/**
 * Invitations: an address is offered a role in an organization through a link that works once,
 * within a week. The link is in the response to the inviter, and is mailed if a mail server is
 * configured.
 */
import { inTransaction, type Db, type Tx } from '../../platform/database/database.ts';
import { ApiError, fieldError } from '../../platform/http/errors.ts';
import { isAtLeast, type Role } from '../../platform/http/roles.ts';
import { newTypeId, type OrganizationId, type PersonId } from '../../platform/values/ids.ts';
import { formatTimestamp } from '../../platform/values/time.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import { recordAudit } from '../audit/audit.ts';
import { provePerson, type Proof, type ProofParts } from './accounts.ts';
import { peopleErrors } from './errors.ts';
import {
  deleteInvitation,
  findInvitationByToken,
  putInvitation,
  type InvitationRow,
} from './invitation-queries.ts';
import { checkPassword, hashPassword } from './password.ts';
import { findAccount, insertMembership, insertPerson } from './queries.ts';
import { hashToken, newToken } from './tokens.ts';

export const invitationSeconds = 7 * 86_400;

export function presentInvitation(row: InvitationRow) {
  return {
    id: row.invitation_id,
    email: row.email,
    role: row.role,
    createdAt: formatTimestamp(row.created_at),
    expiresAt: formatTimestamp(row.expires_at),
  };
}

/**
 * Normalizes an address for comparison, so that it has only one account no matter how it is typed.
 */
export function normalEmail(email: string): string {
  return email.trim().normalize('NFC').toLowerCase();
}

export const sealContext = (invitationId: string): string => `invitation ${invitationId}`;

export function invitationUrl(publicUrl: string, token: string): string {
  return `${publicUrl}/console/#/invitation/${token}`;
}

type Invitation = {
  readonly organizationId: OrganizationId;
  readonly email: string;
  readonly role: Role;
  /** The inviting key or person, or null for the command line. */
  readonly invitedBy: string | null;
};

/** Invites an address. An earlier invitation of the same address becomes invalid. */
export async function invite(tx: Tx, vault: Vault, publicUrl: string, invitation: Invitation) {
  const token = newToken();
  const invitationId = newTypeId('inv');
  const email = normalEmail(invitation.email);
  await putInvitation(tx, {
    ...invitation,
    email,
    invitationId,
    tokenHash: hashToken(token),
    tokenSealed: vault.seal(token, sealContext(invitationId)),
    seconds: invitationSeconds,
  });
  const row = await findInvitationByToken(tx, hashToken(token));
  if (row === null) throw new Error('An invitation had expired when it was created.');
  return { ...presentInvitation(row), url: invitationUrl(publicUrl, token) };
}

/** @throws {ApiError} FORBIDDEN for a role above the caller's */
export function requireMayGive(own: Role, role: Role): void {
  if (isAtLeast(own, role)) return;
  throw new ApiError('FORBIDDEN', {
    message: `This requires the role ${role}. Your role is ${own}.`,
  });
}

/** @throws {ApiError} LINK_OVER */
export async function readInvitation(db: Db, token: string) {
  const row = await findInvitationByToken(db, hashToken(token));
  if (row === null) throw new ApiError(peopleErrors.LINK_OVER);
  const account = await findAccount(db, row.email);
  const { organization_name: organization, email, role } = row;
  return { organization, email, role, hasAccount: account !== null };
}

export type Acceptance = Omit<Proof, 'email'> & {
  readonly token: string;
  readonly name?: string | undefined;
  /** The signed-in person, if any. */
  readonly signedIn: PersonId | null;
  readonly requestId: string;
};

/**
 * Accepts an invitation: with the password of the address's existing account, as the person signed
 * in to it, or by creating the account.
 * @throws {ApiError} LINK_OVER, SIGN_IN_FAILED, SECOND_FACTOR_REQUIRED, SECOND_FACTOR_FAILED,
 *   VALIDATION_ERROR, RATE_LIMITED
 */
export async function acceptInvitation(
  parts: ProofParts,
  acceptance: Acceptance,
): Promise<{ personId: PersonId; organizationId: OrganizationId }> {
  const { db, attempts } = parts;
  const { token, requestId } = acceptance;
  await attempts.take('link', acceptance.address, null);
  const invitation = await findInvitationByToken(db, hashToken(token));
  if (invitation === null) throw new ApiError(peopleErrors.LINK_OVER);
  const person = await choosePerson(parts, invitation, acceptance);
  const { organization_id: organizationId, invitation_id: invitationId, role } = invitation;
  return inTransaction(db, async (tx) => {
    // Only one of two concurrent uses of the link succeeds.
    if (!(await deleteInvitation(tx, invitationId))) throw new ApiError(peopleErrors.LINK_OVER);
    if (person.isNew && !(await insertPerson(tx, person))) {
      throw new ApiError('CONFLICT', {
        message: 'An account with this address was created in the meantime. Try again.',
      });
    }
    await insertMembership(tx, organizationId, person.personId, role);
    await recordAudit(tx, {
      organizationId,
      actor: { type: 'person', personId: person.personId, requestId },
      action: 'acceptInvitation',
      resourceId: person.personId,
      changes: { email: invitation.email, role },
    });
    return { personId: person.personId, organizationId };
  });
}

async function choosePerson(
  parts: ProofParts,
  { email }: InvitationRow,
  { signedIn, name, password, code, address }: Acceptance,
) {
  const account = await findAccount(parts.db, email);
  if (account !== null) {
    if (account.personId !== signedIn) {
      await provePerson(parts, { email, password, code, address });
    }
    return { ...account, isNew: false };
  }
  if (name === undefined) throw fieldError('name', 'is required for a new account');
  checkPassword(password, email);
  const passwordHash = await hashPassword(password);
  return { personId: newTypeId('per'), email, name, passwordHash, isNew: true };
}
