import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/database/database.ts';
import type { OrganizationId, UploadSessionId } from '../../platform/ids.ts';
import type { UploadPart } from './tables.ts';

export type NewUploadSession = {
  organizationId: OrganizationId;
  sessionId: UploadSessionId;
  contentId: string;
  tokenHash: Buffer;
  expiryMs: number;
};

/** @returns when the session expires */
export async function insertSession(tx: Tx, session: NewUploadSession): Promise<Date> {
  const row = await tx
    .insertInto('upload_session')
    .values({
      organization_id: session.organizationId,
      upload_session_id: session.sessionId,
      content_id: session.contentId,
      token_hash: session.tokenHash,
      expires_at: sql<Date>`now() + ${session.expiryMs} * interval '1 millisecond'`,
    })
    .returning('expires_at')
    .executeTakeFirstOrThrow();
  return row.expires_at;
}

export type UploadSession = {
  organizationId: OrganizationId;
  sessionId: UploadSessionId;
  contentId: string;
  isCompleted: boolean;
  isExpired: boolean;
  expiresAt: Date;
  /** Of a resumable upload; null before it was created. */
  lengthBytes: number | null;
  parts: UploadPart[];
};

function selectSession(db: Db, tokenHash: Buffer) {
  return db
    .selectFrom('upload_session')
    .select([
      'organization_id',
      'upload_session_id',
      'content_id',
      'completed_at',
      'expires_at',
      'upload_length',
      'parts',
    ])
    .select(sql<boolean>`expires_at <= now()`.as('is_expired'))
    .where('token_hash', '=', tokenHash);
}

type SessionRow = {
  organization_id: string;
  upload_session_id: string;
  content_id: string;
  completed_at: Date | null;
  is_expired: boolean;
  expires_at: Date;
  upload_length: number | null;
  parts: UploadPart[];
};

function toSession(row: SessionRow | undefined): UploadSession | null {
  if (row === undefined) return null;
  return {
    organizationId: row.organization_id as OrganizationId,
    sessionId: row.upload_session_id as UploadSessionId,
    contentId: row.content_id,
    isCompleted: row.completed_at !== null,
    isExpired: row.is_expired,
    expiresAt: row.expires_at,
    lengthBytes: row.upload_length,
    parts: row.parts,
  };
}

/** The session of an upload URL. Its item may be archived. */
export async function findSession(db: Db, tokenHash: Buffer): Promise<UploadSession | null> {
  return toSession(await selectSession(db, tokenHash).executeTakeFirst());
}

/** The same, locked until the transaction ends: of two senders one completes it. */
export async function lockSession(tx: Tx, tokenHash: Buffer): Promise<UploadSession | null> {
  return toSession(await selectSession(tx, tokenHash).forUpdate().executeTakeFirst());
}

export async function completeSession(tx: Tx, session: UploadSession): Promise<void> {
  await tx
    .updateTable('upload_session')
    .set({ completed_at: sql<Date>`now()` })
    .where('organization_id', '=', session.organizationId)
    .where('upload_session_id', '=', session.sessionId)
    .execute();
}

export async function setUploadLength(
  tx: Tx,
  session: UploadSession,
  lengthBytes: number,
): Promise<void> {
  await tx
    .updateTable('upload_session')
    .set({ upload_length: lengthBytes })
    .where('organization_id', '=', session.organizationId)
    .where('upload_session_id', '=', session.sessionId)
    .where('upload_length', 'is', null)
    .execute();
}

/** Names a part behind those that are there. @returns false when the upload has moved on */
export async function appendPart(
  tx: Tx,
  session: UploadSession,
  offset: number,
  part: UploadPart,
): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    update upload_session set parts = parts || ${JSON.stringify([part])}::jsonb
    where organization_id = ${session.organizationId}
      and upload_session_id = ${session.sessionId} and completed_at is null
      and ${offset}::bigint = (
        select coalesce(sum((part ->> 'sizeBytes')::bigint), 0)
        from jsonb_array_elements(parts) as part
      )
  `.execute(tx);
  return numAffectedRows === 1n;
}

export async function removeSession(tx: Tx, session: UploadSession): Promise<void> {
  await tx
    .deleteFrom('upload_session')
    .where('organization_id', '=', session.organizationId)
    .where('upload_session_id', '=', session.sessionId)
    .execute();
}

/** Those of the sessions that still take bytes. */
export async function findOpenSessions(
  db: Db,
  sessionIds: readonly string[],
): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`
    select upload_session_id as id from upload_session
    where upload_session_id = any(${sessionIds}::text[]) and completed_at is null
  `.execute(db);
  return new Set(rows.map(({ id }) => id));
}

/** Removes sessions whose time is over. @returns their items, at most `limit` */
export async function removeExpiredSessions(
  tx: Tx,
  limit: number,
): Promise<{ organizationId: string; contentId: string }[]> {
  const { rows } = await sql<{ organizationId: string; contentId: string }>`
    delete from upload_session
    where (organization_id, upload_session_id) in (
      select organization_id, upload_session_id from upload_session
      where completed_at is null and expires_at <= now()
      order by expires_at limit ${limit}
      for update skip locked
    )
    returning organization_id as "organizationId", content_id as "contentId"
  `.execute(tx);
  return rows;
}
