import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/database/database.ts';
import type { OrganizationId, UploadSessionId } from '../../platform/ids.ts';
import { itemColumns, touched, type ItemRow } from '../content/content.ts';

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
};

function selectSession(db: Db, tokenHash: Buffer) {
  return db
    .selectFrom('upload_session')
    .innerJoin('content', (join) =>
      join
        .onRef('content.organization_id', '=', 'upload_session.organization_id')
        .onRef('content.content_id', '=', 'upload_session.content_id'),
    )
    .select([
      'upload_session.organization_id',
      'upload_session.upload_session_id',
      'upload_session.content_id',
      'upload_session.completed_at',
    ])
    .select(sql<boolean>`upload_session.expires_at <= now()`.as('is_expired'))
    .where('upload_session.token_hash', '=', tokenHash)
    .where('content.archived_at', 'is', null);
}

type SessionRow = {
  organization_id: string;
  upload_session_id: string;
  content_id: string;
  completed_at: Date | null;
  is_expired: boolean;
};

function toSession(row: SessionRow | undefined): UploadSession | null {
  if (row === undefined) return null;
  return {
    organizationId: row.organization_id as OrganizationId,
    sessionId: row.upload_session_id as UploadSessionId,
    contentId: row.content_id,
    isCompleted: row.completed_at !== null,
    isExpired: row.is_expired,
  };
}

/** The session of an upload URL whose item is not archived. */
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

export type Source = { key: string; mediaType: string };

/** Writes down where the original bytes of an item lie. */
export async function setSource(
  tx: Tx,
  organizationId: OrganizationId,
  contentId: string,
  source: Source,
): Promise<ItemRow> {
  return tx
    .updateTable('content')
    .set({ source_key: source.key, source_format: source.mediaType, ...touched() })
    .where('organization_id', '=', organizationId)
    .where('content_id', '=', contentId)
    .returning(itemColumns)
    .executeTakeFirstOrThrow();
}

export type FailedUpload = {
  organizationId: string;
  contentId: string;
  title: string;
  code: string;
  message: string;
};

/**
 * Ends uploads whose time is over: the item goes to `error`, and its URL no longer works.
 *
 * @returns the items that failed by it, at most `limit`
 */
export async function expireSessions(tx: Tx, limit: number): Promise<FailedUpload[]> {
  const { rows } = await sql<FailedUpload>`
    with expired as (
      delete from upload_session
      where (organization_id, upload_session_id) in (
        select organization_id, upload_session_id from upload_session
        where completed_at is null and expires_at <= now()
        order by expires_at limit ${limit}
        for update skip locked
      )
      returning organization_id, content_id
    )
    update content set
      upload_status = 'error',
      error_code = 'SOURCE_UNREACHABLE',
      error_message = 'The upload was not completed before its URL expired.',
      revision = revision + 1,
      updated_at = clock_timestamp()
    from expired
    where content.organization_id = expired.organization_id
      and content.content_id = expired.content_id
      and content.upload_status = 'pending'
      and content.source_key is null
    returning content.organization_id as "organizationId", content.content_id as "contentId",
      content.title, content.error_code as code, content.error_message as message
  `.execute(tx);
  return rows;
}

/** Which of the given storage keys no item names. */
export async function findUnnamedSources(db: Db, keys: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ key: string }>`
    select candidate.key from unnest(${keys}::text[]) as candidate (key)
    where not exists (select from content where content.source_key = candidate.key)
  `.execute(db);
  return rows.map((row) => row.key);
}
