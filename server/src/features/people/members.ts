/** Memberships: changing roles and removing members. */
import type { Tx } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/http/errors.ts';
import type { Principal } from '../../platform/http/principal.ts';
import type { Role } from '../../platform/http/roles.ts';
import { parseTypeId, type OrganizationId } from '../../platform/values/ids.ts';
import { formatTimestamp } from '../../platform/values/time.ts';
import { peopleErrors } from './errors.ts';
import { requireMayGive } from './invitations.ts';
import { deleteMembership, findMember, lockOwners, updateRole, type MemberRow } from './queries.ts';

export function presentMember(row: MemberRow) {
  return {
    id: row.person_id,
    email: row.email,
    name: row.name,
    role: row.role,
    hasPassword: row.has_password,
    hasSecondFactor: row.has_second_factor,
    joinedAt: formatTimestamp(row.created_at),
    signedInAt: formatTimestamp(row.signed_in_at),
  };
}

/**
 * The fields that the audit log compares. Excludes address and name, which must not be kept after
 * someone leaves.
 */
export async function auditedMember(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
): Promise<object | null> {
  const personId = parseTypeId('per', id);
  const row = personId && (await findMember(tx, organizationId, personId));
  return row && { role: row.role };
}

/** A secret key without scopes counts as an owner; one with scopes counts as an admin. */
export function roleOf({ person, scopes }: Principal): Role {
  return person?.role ?? (scopes === null ? 'owner' : 'admin');
}

/** @throws {ApiError} NOT_FOUND, FORBIDDEN, LAST_OWNER */
export async function changeRole(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
  { own, role }: { own: Role; role: Role },
): Promise<MemberRow> {
  requireMayGive(own, role);
  const member = await lockMember(tx, organizationId, id, own, role !== 'owner');
  await updateRole(tx, organizationId, member.personId, role);
  return { ...member.row, role };
}

/**
 * Ends a membership and its sessions.
 * @throws {ApiError} NOT_FOUND, FORBIDDEN, LAST_OWNER
 */
export async function removeMember(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
  own: Role,
): Promise<MemberRow> {
  const member = await lockMember(tx, organizationId, id, own, true);
  await deleteMembership(tx, organizationId, member.personId);
  return member.row;
}

async function lockMember(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
  own: Role,
  losesOwner: boolean,
) {
  const personId = parseTypeId('per', id);
  if (personId === null) throw new ApiError('NOT_FOUND');
  const owners = await lockOwners(tx, organizationId);
  const row = await findMember(tx, organizationId, personId);
  if (row === null) throw new ApiError('NOT_FOUND');
  requireMayGive(own, row.role);
  const isLast = owners.length === 1 && owners[0] === personId;
  if (isLast && losesOwner) throw new ApiError(peopleErrors.LAST_OWNER);
  return { personId, row };
}
