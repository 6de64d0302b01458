import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/database/database.ts';
import { isBehind, type KeysetPage } from '../../platform/database/keyset.ts';
import type { Role } from '../../platform/http/roles.ts';
import type { OrganizationId, PersonId, SessionId } from '../../platform/values/ids.ts';

type NewSession = {
  readonly sessionId: SessionId;
  readonly tokenHash: Buffer;
  readonly personId: PersonId;
  readonly organizationId: OrganizationId;
  readonly address: string;
  readonly userAgent: string;
  readonly idleSeconds: number;
  readonly maxSeconds: number;
};

export async function insertPersonSession(tx: Tx, session: NewSession): Promise<void> {
  await sql`
    insert into person_session (session_id, token_hash, person_id, organization_id, address,
      user_agent, expires_at, ends_at)
    values (${session.sessionId}, ${session.tokenHash}, ${session.personId},
      ${session.organizationId}, ${session.address}, ${session.userAgent},
      now() + make_interval(secs => ${Math.min(session.idleSeconds, session.maxSeconds)}),
      now() + make_interval(secs => ${session.maxSeconds}))`.execute(tx);
  await sql`update person set signed_in_at = now() where person_id = ${session.personId}`.execute(
    tx,
  );
}

/** Ends a person's oldest sessions, leaving at most `limit`. */
export async function endOldestPersonSessions(
  tx: Tx,
  personId: PersonId,
  limit: number,
): Promise<void> {
  await sql`
    delete from person_session where session_id in (
      select session_id from person_session where person_id = ${personId}
      order by created_at desc, session_id desc offset ${limit})`.execute(tx);
}

export type SessionOwner = {
  readonly sessionId: SessionId;
  readonly personId: PersonId;
  readonly organizationId: OrganizationId;
  readonly role: Role;
};

/**
 * The person of an active session and the role in its organization. Using it extends the expiry, to
 * the minute. Nothing is cached, so an ended session is rejected immediately everywhere.
 */
export async function useSession(
  db: Db,
  tokenHash: Buffer,
  idleSeconds: number,
): Promise<SessionOwner | null> {
  const { rows } = await sql<SessionOwner>`
    with touched as (
      update person_session
      set last_used_at = now(),
        expires_at = least(ends_at, now() + make_interval(secs => ${idleSeconds}))
      where token_hash = ${tokenHash} and last_used_at < now() - interval '1 minute'
        and expires_at > now()
    )
    select session_id as "sessionId", person_id as "personId",
      organization_id as "organizationId", role
    from person_session join membership using (organization_id, person_id)
    where token_hash = ${tokenHash} and expires_at > now()`.execute(db);
  return rows[0] ?? null;
}

export async function moveSession(
  tx: Tx,
  sessionId: SessionId,
  organizationId: OrganizationId,
): Promise<void> {
  await sql`
    update person_session set organization_id = ${organizationId}
    where session_id = ${sessionId}`.execute(tx);
}

export async function deletePersonSession(db: Db, tokenHash: Buffer): Promise<void> {
  await sql`delete from person_session where token_hash = ${tokenHash}`.execute(db);
}

/** Selects sessions by organization, person or both, optionally except one. */
export type SessionFilter = {
  readonly organizationId?: OrganizationId;
  readonly personId?: PersonId;
  readonly sessionId?: SessionId;
  readonly except?: SessionId;
};

function matches({ organizationId, personId, sessionId, except }: SessionFilter) {
  const conditions = [sql`expires_at > now()`];
  if (organizationId !== undefined) conditions.push(sql`organization_id = ${organizationId}`);
  if (personId !== undefined) conditions.push(sql`person_id = ${personId}`);
  if (sessionId !== undefined) conditions.push(sql`session_id = ${sessionId}`);
  if (except !== undefined) conditions.push(sql`session_id <> ${except}`);
  return sql.join(conditions, sql` and `);
}

/** @returns the ids of the ended sessions */
export async function endSessions(tx: Tx, filter: SessionFilter): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    delete from person_session where ${matches(filter)} returning session_id as id`.execute(tx);
  return rows.map(({ id }) => id);
}

export type SessionRow = {
  session_id: string;
  person_id: string;
  name: string;
  email: string;
  address: string;
  user_agent: string;
  created_at: Date;
  last_used_at: Date;
  expires_at: Date;
  position: string;
};

/** Newest first. */
export async function listSessions(
  db: Db,
  filter: SessionFilter,
  { limit, after }: KeysetPage,
): Promise<SessionRow[]> {
  const { rows } = await sql<SessionRow>`
    select session.session_id, person_id, name, email, address, user_agent, session.created_at,
      last_used_at, expires_at, session.created_at::text as position
    from person_session as session join person using (person_id)
    where ${matches(filter)} and ${isBehind('session.created_at', 'session.session_id', after)}
    order by session.created_at desc, session.session_id desc
    limit ${limit}`.execute(db);
  return rows;
}

export async function countPersonSessions(db: Db, filter: SessionFilter): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from person_session where ${matches(filter)}`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Deletes at most `limit` expired sessions. Returns how many. */
export async function deleteExpiredPersonSessions(tx: Tx, limit: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from person_session where session_id in (
      select session_id from person_session where expires_at <= now()
      limit ${limit} for update skip locked)`.execute(tx);
  return Number(numAffectedRows);
}
