import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/database/database.ts';
import type { OrganizationId, UploadSessionId } from '../../platform/values/ids.ts';
import type { UploadPart } from './tables.ts';

export type NewUploadSession = {
  organizationId: OrganizationId;
  sessionId: UploadSessionId;
  contentId: string;
  tokenHash: Buffer;
  expiryMs: number;
};

/** @returns when the session expires */
export async function insertUploadSession(tx: Tx, session: NewUploadSession): Promise<Date> {
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
  /** Length of a resumable upload; null before it is created. */
  lengthBytes: number | null;
  parts: UploadPart[];
  /** The upload of which this is a part (`concatenation` in tus). */
  wholeId: string | null;
  /** The `Upload-Concat` header with which the parts were joined. */
  concat: string | null;
};

function selectSessions(db: Db) {
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
      'whole_session_id',
      'upload_concat',
    ])
    .select(sql<boolean>`expires_at <= now()`.as('is_expired'));
}

function selectSession(db: Db, tokenHash: Buffer) {
  return selectSessions(db).where('token_hash', '=', tokenHash);
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
  whole_session_id: string | null;
  upload_concat: string | null;
};

function toSession(row: SessionRow): UploadSession {
  return {
    organizationId: row.organization_id as OrganizationId,
    sessionId: row.upload_session_id as UploadSessionId,
    contentId: row.content_id,
    isCompleted: row.completed_at !== null,
    isExpired: row.is_expired,
    expiresAt: row.expires_at,
    lengthBytes: row.upload_length,
    parts: row.parts,
    wholeId: row.whole_session_id,
    concat: row.upload_concat,
  };
}

/** The session of an upload URL. Its item may be archived. */
export async function findSession(db: Db, tokenHash: Buffer): Promise<UploadSession | null> {
  const row = await selectSession(db, tokenHash).executeTakeFirst();
  return row === undefined ? null : toSession(row);
}

/** The same, locked until the transaction ends, so that only one of two clients completes it. */
export async function lockSession(tx: Tx, tokenHash: Buffer): Promise<UploadSession | null> {
  const row = await selectSession(tx, tokenHash).forUpdate().executeTakeFirst();
  return row === undefined ? null : toSession(row);
}

/** `joined` describes the parts that were joined and the total length. */
export async function completeSession(
  tx: Tx,
  session: UploadSession,
  joined?: { concat: string; lengthBytes: number },
): Promise<void> {
  await tx
    .updateTable('upload_session')
    .set({
      completed_at: sql<Date>`now()`,
      ...(joined !== undefined && {
        upload_concat: joined.concat,
        upload_length: joined.lengthBytes,
      }),
    })
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

/**
 * Makes `writer` the only one that may add bytes to an upload; a previous writer no longer can.
 * @returns the pieces before `offset`, or null if the upload is at another offset or complete
 */
export async function claimOffset(
  db: Db,
  session: UploadSession,
  offset: number,
  writer: string,
): Promise<UploadPart[] | null> {
  const { rows } = await sql<{ parts: UploadPart[] }>`
    update upload_session set writer = ${writer}
    where organization_id = ${session.organizationId}
      and upload_session_id = ${session.sessionId} and completed_at is null
      and ${offset}::bigint = (
        select coalesce(sum((part ->> 'sizeBytes')::bigint), 0)
        from jsonb_array_elements(parts) as part
      )
    returning parts
  `.execute(db);
  return rows[0]?.parts ?? null;
}

/** Records the pieces of an upload. Returns false if another writer has taken over. */
export async function namePieces(
  db: Db,
  session: UploadSession,
  writer: string,
  pieces: readonly UploadPart[],
): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    update upload_session set parts = ${JSON.stringify(pieces)}::jsonb
    where organization_id = ${session.organizationId} and upload_session_id = ${session.sessionId}
      and writer = ${writer} and completed_at is null
  `.execute(db);
  return numAffectedRows === 1n;
}

/** Creates a part of an upload; it expires with the whole. */
export async function insertPartial(
  tx: Tx,
  whole: UploadSession,
  partial: { sessionId: UploadSessionId; tokenHash: Buffer; lengthBytes: number },
): Promise<void> {
  await tx
    .insertInto('upload_session')
    .values({
      organization_id: whole.organizationId,
      upload_session_id: partial.sessionId,
      content_id: whole.contentId,
      token_hash: partial.tokenHash,
      expires_at: whole.expiresAt,
      upload_length: partial.lengthBytes,
      whole_session_id: whole.sessionId,
    })
    .execute();
}

/** The separately uploaded parts of an upload. */
export async function findPartials(
  db: Db,
  { organizationId, sessionId }: UploadSession,
): Promise<UploadSession[]> {
  const rows = await selectSessions(db)
    .where('organization_id', '=', organizationId)
    .where('whole_session_id', '=', sessionId)
    .execute();
  return rows.map(toSession);
}

export async function removePartials(tx: Tx, whole: UploadSession): Promise<void> {
  await tx
    .deleteFrom('upload_session')
    .where('organization_id', '=', whole.organizationId)
    .where('whole_session_id', '=', whole.sessionId)
    .execute();
}

export async function removeSession(tx: Tx, session: UploadSession): Promise<void> {
  await tx
    .deleteFrom('upload_session')
    .where('organization_id', '=', session.organizationId)
    .where('upload_session_id', '=', session.sessionId)
    .execute();
}

/** The given sessions that still accept bytes. */
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

/** Removes at most `limit` expired sessions. Returns their items. */
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
