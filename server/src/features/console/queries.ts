import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/database/database.ts';
import type { ApiKeyId, OrganizationId, TypeId } from '../../platform/values/ids.ts';

export type ConsoleSessionId = TypeId<'ses'>;

type NewSession = {
  readonly sessionId: ConsoleSessionId;
  readonly organizationId: OrganizationId;
  readonly keyId: ApiKeyId;
  readonly seconds: number;
};

export async function insertConsoleSession(tx: Tx, session: NewSession): Promise<void> {
  await sql`
    insert into console_session (session_id, organization_id, api_key_id, expires_at)
    values (${session.sessionId}, ${session.organizationId}, ${session.keyId},
      now() + make_interval(secs => ${session.seconds}))`.execute(tx);
}

/** Ends a key's oldest sessions, leaving at most `limit`. */
export async function endOldestConsoleSessions(
  tx: Tx,
  { organizationId, keyId }: NewSession,
  limit: number,
): Promise<void> {
  await sql`
    delete from console_session where session_id in (
      select session_id from console_session
      where organization_id = ${organizationId} and api_key_id = ${keyId}
      order by created_at desc, session_id desc offset ${limit})`.execute(tx);
}

/** Whether a session is active. Records its last use to the minute. */
export async function touchSession(db: Db, sessionId: string): Promise<boolean> {
  const { rows } = await sql`
    with touched as (
      update console_session set last_used_at = now()
      where session_id = ${sessionId} and last_used_at < now() - interval '1 minute'
    )
    select from console_session where session_id = ${sessionId} and expires_at > now()`.execute(db);
  return rows.length > 0;
}

export async function deleteConsoleSession(tx: Tx, sessionId: string): Promise<void> {
  await sql`delete from console_session where session_id = ${sessionId}`.execute(tx);
}

/** Deletes at most `limit` expired sessions. Returns how many. */
export async function deleteExpiredConsoleSessions(tx: Tx, limit: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from console_session where session_id in (
      select session_id from console_session where expires_at <= now()
      limit ${limit} for update skip locked)`.execute(tx);
  return Number(numAffectedRows);
}
