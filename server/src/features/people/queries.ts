import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/database/database.ts';
import { isBehind, type KeysetPage } from '../../platform/database/keyset.ts';
import type { Role } from '../../platform/http/roles.ts';
import type { OrganizationId, PersonId } from '../../platform/values/ids.ts';
import { organizationRows } from '../organizations/organizations.ts';

export type AccountRow = {
  readonly personId: PersonId;
  readonly email: string;
  readonly name: string;
  readonly passwordHash: string | null;
  readonly totpSecret: Buffer | null;
};

const accountColumns = sql`person_id as "personId", email, name, password_hash as "passwordHash",
  totp_secret as "totpSecret"`;

/** @param email in lower case */
export async function findAccount(db: Db, email: string): Promise<AccountRow | null> {
  const { rows } = await sql<AccountRow>`
    select ${accountColumns} from person where email = ${email}`.execute(db);
  return rows[0] ?? null;
}

export async function findAccountById(db: Db, personId: PersonId): Promise<AccountRow | null> {
  const { rows } = await sql<AccountRow>`
    select ${accountColumns} from person where person_id = ${personId}`.execute(db);
  return rows[0] ?? null;
}

export type NewPerson = {
  readonly personId: PersonId;
  readonly email: string;
  readonly name: string;
  readonly passwordHash: string | null;
};

/** @returns false if the address already has an account */
export async function insertPerson(tx: Tx, person: NewPerson): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    insert into person (person_id, email, name, password_hash)
    values (${person.personId}, ${person.email}, ${person.name}, ${person.passwordHash})
    on conflict (email) do nothing`.execute(tx);
  return numAffectedRows > 0n;
}

export async function setPassword(tx: Tx, personId: PersonId, hash: string): Promise<void> {
  await sql`update person set password_hash = ${hash} where person_id = ${personId}`.execute(tx);
}

export async function setName(tx: Tx, personId: PersonId, name: string): Promise<void> {
  await sql`update person set name = ${name} where person_id = ${personId}`.execute(tx);
}

/** Does nothing for an existing member. */
export async function insertMembership(
  tx: Tx,
  organizationId: OrganizationId,
  personId: PersonId,
  role: Role,
): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    insert into membership (organization_id, person_id, role)
    values (${organizationId}, ${personId}, ${role}) on conflict do nothing`.execute(tx);
  return numAffectedRows > 0n;
}

export type OwnOrganization = { readonly id: string; readonly name: string; readonly role: Role };

/** A person's organizations by name, at most 200. */
export async function listOwnOrganizations(db: Db, personId: PersonId): Promise<OwnOrganization[]> {
  const { rows } = await sql<OwnOrganization>`
    select organization_id as id, organization.name, role
    from membership join ${organizationRows} as organization using (organization_id)
    where person_id = ${personId}
    order by organization.name, organization_id limit 200`.execute(db);
  return rows;
}

/** The organization that a person used last, or else joined first; null without any. */
export async function findLatestOrganization(
  db: Db,
  personId: PersonId,
): Promise<OrganizationId | null> {
  const { rows } = await sql<{ id: OrganizationId }>`
    select membership.organization_id as id
    from membership left join person_session as session using (organization_id, person_id)
    where person_id = ${personId}
    order by session.last_used_at desc nulls last, membership.created_at limit 1`.execute(db);
  return rows[0]?.id ?? null;
}

export type MemberRow = {
  person_id: string;
  email: string;
  name: string;
  role: Role;
  has_second_factor: boolean;
  has_password: boolean;
  created_at: Date;
  signed_in_at: Date | null;
  position: string;
};

const memberColumns = sql`membership.person_id, email, name, role,
  totp_secret is not null as has_second_factor, password_hash is not null as has_password,
  membership.created_at, signed_in_at, membership.created_at::text as position`;

/** Newest first. */
export async function listMembers(
  db: Db,
  organizationId: OrganizationId,
  { limit, after }: KeysetPage,
): Promise<MemberRow[]> {
  const { rows } = await sql<MemberRow>`
    select ${memberColumns} from membership join person using (person_id)
    where organization_id = ${organizationId}
      and ${isBehind('membership.created_at', 'membership.person_id', after)}
    order by membership.created_at desc, membership.person_id desc
    limit ${limit}`.execute(db);
  return rows;
}

export async function countMembers(db: Db, organizationId: OrganizationId): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from membership
    where organization_id = ${organizationId}`.execute(db);
  return rows[0]?.count ?? 0;
}

export async function findMember(
  db: Db,
  organizationId: OrganizationId,
  personId: PersonId,
): Promise<MemberRow | null> {
  const { rows } = await sql<MemberRow>`
    select ${memberColumns} from membership join person using (person_id)
    where organization_id = ${organizationId} and person_id = ${personId}`.execute(db);
  return rows[0] ?? null;
}

/**
 * Locks the owners of an organization, so that concurrent changes can't leave it without one.
 * @returns their ids
 */
export async function lockOwners(tx: Tx, organizationId: OrganizationId): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select person_id as id from membership
    where organization_id = ${organizationId} and role = 'owner'
    order by person_id for update`.execute(tx);
  return rows.map(({ id }) => id);
}

export async function hasOwner(db: Db, organizationId: OrganizationId): Promise<boolean> {
  const { rows } = await sql`
    select from membership
    where organization_id = ${organizationId} and role = 'owner' limit 1`.execute(db);
  return rows.length > 0;
}

/** Whether any account exists. */
export async function hasAnyone(db: Db): Promise<boolean> {
  const { rows } = await sql`select from person limit 1`.execute(db);
  return rows.length > 0;
}

export async function updateRole(
  tx: Tx,
  organizationId: OrganizationId,
  personId: PersonId,
  role: Role,
): Promise<void> {
  await sql`
    update membership set role = ${role}
    where organization_id = ${organizationId} and person_id = ${personId}`.execute(tx);
}

/**
 * Ends a membership and its sessions. An account without memberships is deleted, leaving only its
 * id in the audit log.
 */
export async function deleteMembership(
  tx: Tx,
  organizationId: OrganizationId,
  personId: PersonId,
): Promise<void> {
  await sql`
    delete from person_session
    where organization_id = ${organizationId} and person_id = ${personId}`.execute(tx);
  await sql`
    delete from membership
    where organization_id = ${organizationId} and person_id = ${personId}`.execute(tx);
  const { rows } = await sql`
    select from membership where person_id = ${personId} limit 1`.execute(tx);
  if (rows.length > 0) return;
  await sql`delete from person_session where person_id = ${personId}`.execute(tx);
  await sql`delete from password_reset where person_id = ${personId}`.execute(tx);
  await sql`delete from passkey where person_id = ${personId}`.execute(tx);
  await sql`delete from person_identity where person_id = ${personId}`.execute(tx);
  await sql`delete from person where person_id = ${personId}`.execute(tx);
}

/** Replaces a person's password reset link. */
export async function putReset(
  tx: Tx,
  personId: PersonId,
  tokenHash: Buffer,
  seconds: number,
): Promise<void> {
  await sql`
    insert into password_reset (person_id, token_hash, expires_at)
    values (${personId}, ${tokenHash}, now() + make_interval(secs => ${seconds}))
    on conflict (person_id) do update
    set token_hash = excluded.token_hash, expires_at = excluded.expires_at`.execute(tx);
}

/** The person of a valid link, locked until the transaction ends. */
export async function lockReset(tx: Tx, tokenHash: Buffer): Promise<PersonId | null> {
  const { rows } = await sql<{ id: PersonId }>`
    select person_id as id from password_reset
    where token_hash = ${tokenHash} and expires_at > now() for update`.execute(tx);
  return rows[0]?.id ?? null;
}

export async function deleteReset(tx: Tx, personId: PersonId): Promise<void> {
  await sql`delete from password_reset where person_id = ${personId}`.execute(tx);
}
