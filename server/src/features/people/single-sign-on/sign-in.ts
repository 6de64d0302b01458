/**
 * Maps a person authenticated by the provider to an account and its roles.
 *
 * The provider's subject identifies the account. At the first sign-in, the address does instead, if
 * the provider has verified it: the account with this address is linked, or a new one is created
 * for a member of the domain's organization or an invited person. Any earlier credentials of a
 * linked account are removed (password, second factor, passkeys, sessions), because someone else
 * may have created it.
 */
import { inTransaction, type Db, type Tx } from '../../../platform/database/database.ts';
import { ApiError } from '../../../platform/http/errors.ts';
import { isAtLeast, type Role } from '../../../platform/http/roles.ts';
import { newTypeId, type OrganizationId, type PersonId } from '../../../platform/values/ids.ts';
import { recordAudit } from '../../audit/audit.ts';
import { findOrganization, listOrganizations } from '../../organizations/organizations.ts';
import { peopleErrors } from '../errors.ts';
import { takeInvitationsOf } from '../invitation-queries.ts';
import { normalEmail } from '../invitations.ts';
import {
  findLatestOrganization,
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
import type { IdentityClaims } from './provider.ts';
import { clearPassword, findPersonOf, insertIdentity, lockAddress } from './queries.ts';
import type { SingleSignOnConfig } from './settings.ts';

const maxNameCharacters = 100;
/** Limit from OpenID Connect Core, section 2. */
const maxSubjectCharacters = 255;
/** The database can't store NUL, and control characters don't belong in a name. */
const controlCharacters = /\p{Cc}/u;

/** A membership by the settings. If they give no role, only existing members have access. */
type Place = { readonly organizationId: OrganizationId; readonly role: Role | null };

type Known = {
  readonly issuer: string;
  readonly subject: string;
  readonly email: string;
  readonly name: string;
  readonly place: Place | null;
  /** Whether the provider determines the role at each sign-in. */
  readonly isRoleMapped: boolean;
  readonly requestId: string;
};

/** @throws {ApiError} SINGLE_SIGN_ON_EMAIL, _DOMAIN, _ROLE, _ACCOUNT, _OTHER */
export async function signInByClaims(
  db: Db,
  config: SingleSignOnConfig,
  claims: IdentityClaims,
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
    const organizationId = joined ?? (await findLatestOrganization(tx, personId));
    if (organizationId === null) throw new ApiError(peopleErrors.SINGLE_SIGN_ON_ACCOUNT);
    return { personId, organizationId };
  });
}

function readEmail({ needsVerified }: SingleSignOnConfig, claims: IdentityClaims): string {
  const { email, email_verified: isVerified } = claims;
  const isUsable =
    typeof email === 'string' &&
    /^[^\s@<>"]+@[^\s@<>"]+$/.test(email) &&
    !controlCharacters.test(email);
  // `false` always counts as unverified, regardless of the setting.
  const counts = isVerified === true || (!needsVerified && isVerified === undefined);
  if (!isUsable || email.length > 254 || !counts) {
    throw new ApiError(peopleErrors.SINGLE_SIGN_ON_EMAIL);
  }
  return normalEmail(email);
}

function readName({ name }: IdentityClaims, email: string): string {
  const given = typeof name === 'string' ? name.replaceAll(/\p{Cc}+/gu, ' ').trim() : '';
  return (given === '' ? email : given).slice(0, maxNameCharacters);
}

/** The membership that the settings assign to an address, or null if they have no domains. */
async function findPlace(
  db: Db,
  config: SingleSignOnConfig,
  claims: IdentityClaims,
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

function chooseRole(config: SingleSignOnConfig, claims: IdentityClaims): Role | null {
  if (config.roles.length === 0) return config.defaultRole;
  const claim = claims[config.roleClaim];
  const values: readonly unknown[] = Array.isArray(claim) ? claim : [claim];
  const given = config.roles.filter(({ value }) => values.includes(value)).map(({ role }) => role);
  const [first, ...others] = given;
  if (first === undefined) throw new ApiError(peopleErrors.SINGLE_SIGN_ON_ROLE);
  return others.reduce((highest, role) => (isAtLeast(role, highest) ? role : highest), first);
}

/** Links or creates the account at the first sign-in. */
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
    throw new ApiError('CONFLICT', {
      message: 'An account with this address was created in the meantime. Try again.',
    });
  }
  await insertIdentity(tx, personId, known);
  // An invitation's role takes precedence over the general settings.
  for (const { organizationId, role } of invitations) {
    await join(tx, personId, { organizationId, role }, 'acceptInvitation', known);
  }
  return personId;
}

/**
 * Makes the person a member of their domain's organization with the current role.
 * @returns the organization if the person was not a member before
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
