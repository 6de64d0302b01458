import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/database/database.ts';
import { isBehind, type KeysetPage } from '../../platform/database/keyset.ts';
import type { Role } from '../../platform/http/roles.ts';
import type { InvitationId, OrganizationId } from '../../platform/values/ids.ts';
import { organizationRows } from '../organizations/organizations.ts';

type NewInvitation = {
  readonly invitationId: InvitationId;
  readonly organizationId: OrganizationId;
  readonly email: string;
  readonly role: Role;
  readonly tokenHash: Buffer;
  readonly tokenSealed: Buffer;
  readonly invitedBy: string | null;
  readonly seconds: number;
};

export type InvitationRow = {
  invitation_id: InvitationId;
  organization_id: OrganizationId;
  organization_name: string;
  email: string;
  role: Role;
  created_at: Date;
  expires_at: Date;
  position: string;
};

const columns = sql`invitation_id, organization_id, organization.name as organization_name, email, role,
  invitation.created_at, expires_at, invitation.created_at::text as position`;
const rowsOf = sql`invitation join ${organizationRows} as organization using (organization_id)`;

/** Replaces an earlier invitation of the same address, whose link stops working. */
export async function putInvitation(tx: Tx, invitation: NewInvitation): Promise<void> {
  const { organizationId, email } = invitation;
  await sql`
    insert into invitation (invitation_id, organization_id, email, role, token_hash, token_sealed,
      invited_by, expires_at)
    values (${invitation.invitationId}, ${organizationId}, ${email}, ${invitation.role},
      ${invitation.tokenHash}, ${invitation.tokenSealed}, ${invitation.invitedBy},
      now() + make_interval(secs => ${invitation.seconds}))
    on conflict (organization_id, email) do update set
      invitation_id = excluded.invitation_id, role = excluded.role,
      token_hash = excluded.token_hash, token_sealed = excluded.token_sealed,
      invited_by = excluded.invited_by, created_at = excluded.created_at,
      expires_at = excluded.expires_at`.execute(tx);
}

export async function findInvitation(
  db: Db,
  organizationId: OrganizationId,
  invitationId: InvitationId,
): Promise<InvitationRow | null> {
  const { rows } = await sql<InvitationRow>`
    select ${columns} from ${rowsOf}
    where organization_id = ${organizationId} and invitation_id = ${invitationId}
      and expires_at > now()`.execute(db);
  return rows[0] ?? null;
}

/** The invitation of a valid link. */
export async function findInvitationByToken(
  db: Db,
  tokenHash: Buffer,
): Promise<InvitationRow | null> {
  const { rows } = await sql<InvitationRow>`
    select ${columns} from ${rowsOf}
    where token_hash = ${tokenHash} and expires_at > now()`.execute(db);
  return rows[0] ?? null;
}

/** Deletes an invitation. Of two concurrent calls, only one returns true. */
export async function deleteInvitation(tx: Tx, invitationId: InvitationId): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    delete from invitation
    where invitation_id = ${invitationId} and expires_at > now()`.execute(tx);
  return numAffectedRows > 0n;
}

/** Deletes and returns all invitations of an address, in any organization. */
export async function takeInvitationsOf(
  tx: Tx,
  email: string,
): Promise<{ organizationId: OrganizationId; role: Role }[]> {
  const { rows } = await sql<{ organizationId: OrganizationId; role: Role }>`
    delete from invitation where email = ${email} and expires_at > now()
    returning organization_id as "organizationId", role`.execute(tx);
  return rows;
}

export async function listInvitations(
  db: Db,
  organizationId: OrganizationId,
  { limit, after }: KeysetPage,
): Promise<InvitationRow[]> {
  const { rows } = await sql<InvitationRow>`
    select ${columns} from ${rowsOf}
    where organization_id = ${organizationId} and expires_at > now()
      and ${isBehind('invitation.created_at', 'invitation.invitation_id', after)}
    order by invitation.created_at desc, invitation_id desc
    limit ${limit}`.execute(db);
  return rows;
}

export async function countInvitations(db: Db, organizationId: OrganizationId): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from invitation
    where organization_id = ${organizationId} and expires_at > now()`.execute(db);
  return rows[0]?.count ?? 0;
}

/** The data for the mail. */
export async function findSealedToken(
  db: Db,
  invitationId: InvitationId,
): Promise<{ sealed: Buffer; email: string; organizationName: string } | null> {
  const { rows } = await sql<{ sealed: Buffer; email: string; organizationName: string }>`
    select token_sealed as sealed, email, organization.name as "organizationName" from ${rowsOf}
    where invitation_id = ${invitationId} and expires_at > now()`.execute(db);
  return rows[0] ?? null;
}

/** @returns how many were deleted, at most `limit` */
export async function deleteOldInvitations(tx: Tx, limit: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from invitation where invitation_id in (
      select invitation_id from invitation where expires_at <= now()
      limit ${limit} for update skip locked)`.execute(tx);
  return Number(numAffectedRows);
}
