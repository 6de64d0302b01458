/**
 * Who somebody is that the provider vouches for, and what they may do here.
 *
 * The subject at the provider decides. At the first sign-in the address does, which the provider must have
 * verified: the account that has this address is linked, or one is made, for a member of the domain's
 * organization or for whoever was invited. What was set up before under a linked address counts no more
 * (password, second factor, passkeys, sessions): somebody else may have made the account.
 */
import { inTransaction, type Db, type Tx } from '../../../platform/database/database.ts';
import { ApiError } from '../../../platform/http/errors.ts';
import { isAtLeast, type Role } from '../../../platform/http/roles.ts';
import { newTypeId, type OrganizationId, type PersonId } from '../../../platform/ids.ts';
import { recordAudit } from '../../audit/audit.ts';
import { findOrganization, listOrganizations } from '../../organizations/organizations.ts';
import { peopleErrors } from '../errors.ts';
import { takeInvitationsOf } from '../invitation-queries.ts';
import { normalEmail } from '../invitations.ts';
import {
  chooseOrganization,
  findAccount,
  findMember,
  insertMembership,
  insertPerson,
  lockOwners,
  updateRole,
} from '../queries.ts';
import { deletePasskeys } from '../passkeys/queries.ts';
import { auditEverywhere } from '../resets.ts';
import { removeTotp } from '../second-factor.ts';
import { endSessions } from '../session-queries.ts';
import type { Claims } from './provider.ts';
import { clearPassword, findPersonOf, insertIdentity, lockAddress } from './queries.ts';
import type { SingleSignOnConfig } from './settings.ts';

const maxNameCharacters = 100;
/** OpenID Connect Core, section 2. */
const maxSubjectCharacters = 255;
/** The database cannot store a NUL, and none of them belongs in a name. */
const controlCharacters = /\p{Cc}/u;

/** A place in an organization. Without a role that the settings give, only existing members have one. */
type Place = { readonly organizationId: OrganizationId; readonly role: Role | null };

type Known = {
  readonly issuer: string;
  readonly subject: string;
  readonly email: string;
  readonly name: string;
  readonly place: Place | null;
  /** Whether the provider decides about the role at each sign-in. */
  readonly isRoleMapped: boolean;
  readonly requestId: string;
};

/** @throws ApiError SINGLE_SIGN_ON_EMAIL, _DOMAIN, _ROLE, _ACCOUNT, _OTHER */
export async function signInByClaims(
  db: Db,
  config: SingleSignOnConfig,
  claims: Claims,
  requestId: string,
): Promise<{ personId: PersonId; organizationId: OrganizationId }> {
  if (claims.sub.length > maxSubjectCharacters || controlCharacters.test(claims.sub)) {
    throw new ApiError(peopleErrors.SINGLE_SIGN_ON_INVALID);
  }
  const email = readEmail(config, claims);
  const known: Known = {
    issuer: config.issuer,
    subject: claims.sub,
    email,
    name: readName(claims, email),
    place: await findPlace(db, config, claims, email),
    isRoleMapped: config.roles.length > 0,
    requestId,
  };
  return inTransaction(db, async (tx) => {
    await lockAddress(tx, email);
    const personId = (await findPersonOf(tx, known)) ?? (await meet(tx, known));
    const joined = await takePlace(tx, personId, known);
    const organizationId = joined ?? (await chooseOrganization(tx, personId));
    if (organizationId === null) throw new ApiError(peopleErrors.SINGLE_SIGN_ON_ACCOUNT);
    return { personId, organizationId };
  });
}

function readEmail({ needsVerified }: SingleSignOnConfig, claims: Claims): string {
  const { email, email_verified: isVerified } = claims;
  const isUsable =
    typeof email === 'string' &&
    /^[^\s@<>"]+@[^\s@<>"]+$/.test(email) &&
    !controlCharacters.test(email);
  // `false` counts whatever the setting: then the provider does know.
  const counts = isVerified === true || (!needsVerified && isVerified === undefined);
  if (!isUsable || email.length > 254 || !counts) {
    throw new ApiError(peopleErrors.SINGLE_SIGN_ON_EMAIL);
  }
  return normalEmail(email);
}

function readName({ name }: Claims, email: string): string {
  const given = typeof name === 'string' ? name.replaceAll(/\p{Cc}+/gu, ' ').trim() : '';
  return (given === '' ? email : given).slice(0, maxNameCharacters);
}

/** Where the settings put an address; null where they have no domains. */
async function findPlace(
  db: Db,
  config: SingleSignOnConfig,
  claims: Claims,
  email: string,
): Promise<Place | null> {
  if (config.domains.length === 0) return null;
  const domain = email.slice(email.lastIndexOf('@') + 1);
  const found = config.domains.find((one) => one.domain === domain);
  if (found === undefined) throw new ApiError(peopleErrors.SINGLE_SIGN_ON_DOMAIN);
  const organization =
    found.organizationId === null
      ? (await listOrganizations(db, 1))[0]
      : await findOrganization(db, found.organizationId);
  if (!organization) throw new ApiError(peopleErrors.SINGLE_SIGN_ON_ACCOUNT);
  const organizationId = organization.organization_id as OrganizationId;
  return { organizationId, role: chooseRole(config, claims) };
}

function chooseRole(config: SingleSignOnConfig, claims: Claims): Role | null {
  if (config.roles.length === 0) return config.defaultRole;
  const claim = claims[config.roleClaim];
  const values: readonly unknown[] = Array.isArray(claim) ? claim : [claim];
  const given = config.roles.filter(({ value }) => values.includes(value)).map(({ role }) => role);
  const [first, ...others] = given;
  if (first === undefined) throw new ApiError(peopleErrors.SINGLE_SIGN_ON_ROLE);
  return others.reduce((highest, role) => (isAtLeast(role, highest) ? role : highest), first);
}

/** Links or makes the account of somebody who signs in for the first time. */
async function meet(tx: Tx, known: Known): Promise<PersonId> {
  const { email, name, place, requestId } = known;
  const account = await findAccount(tx, email);
  if (account !== null) {
    const { personId } = account;
    if (!(await insertIdentity(tx, personId, known))) {
      throw new ApiError(peopleErrors.SINGLE_SIGN_ON_OTHER);
    }
    await clearPassword(tx, personId);
    await removeTotp(tx, personId);
    await deletePasskeys(tx, personId);
    await endSessions(tx, { personId });
    await auditEverywhere(tx, personId, 'linkSingleSignOn', {
      type: 'person',
      personId,
      requestId,
    });
    return personId;
  }
  const invitations = await takeInvitationsOf(tx, email);
  if (invitations.length === 0 && !place?.role) {
    throw new ApiError(peopleErrors.SINGLE_SIGN_ON_ACCOUNT);
  }
  const personId = newTypeId('per');
  if (!(await insertPerson(tx, { personId, email, name, passwordHash: null }))) {
    throw new ApiError('CONFLICT', { message: 'This address has an account by now. Try again.' });
  }
  await insertIdentity(tx, personId, known);
  // An invitation says more about the role than the settings do for everyone.
  for (const { organizationId, role } of invitations) {
    await join(tx, personId, { organizationId, role }, 'acceptInvitation', known);
  }
  return personId;
}

/**
 * Makes somebody a member of the organization of their domain, with the role that holds now.
 *
 * @returns the organization if they were no member before
 */
async function takePlace(tx: Tx, personId: PersonId, known: Known): Promise<OrganizationId | null> {
  const { place, isRoleMapped, requestId } = known;
  if (place === null || place.role === null) return null;
  const { organizationId, role } = place;
  const owners = await lockOwners(tx, organizationId);
  const member = await findMember(tx, organizationId, personId);
  if (member === null) {
    await join(tx, personId, { organizationId, role }, 'joinBySingleSignOn', known);
    return organizationId;
  }
  const isLastOwner = owners.length === 1 && owners[0] === personId;
  if (!isRoleMapped || member.role === role || isLastOwner) return null;
  await updateRole(tx, organizationId, personId, role);
  await recordAudit(tx, {
    organizationId,
    actor: { type: 'person', personId, requestId },
    action: 'changeRoleBySingleSignOn',
    resourceId: personId,
    changes: { role },
  });
  return null;
}

async function join(
  tx: Tx,
  personId: PersonId,
  { organizationId, role }: { organizationId: OrganizationId; role: Role },
  action: string,
  { email, requestId }: Known,
): Promise<void> {
  await insertMembership(tx, organizationId, personId, role);
  await recordAudit(tx, {
    organizationId,
    actor: { type: 'person', personId, requestId },
    action,
    resourceId: personId,
    changes: { email, role },
  });
}
