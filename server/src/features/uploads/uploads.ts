/**
 * Uploads: how the bytes of a new item arrive.
 *
 * 1. An acknowledged upload is durable: the file is synced under its final name before the row
 *    references it, and its processing job is in the same transaction.
 * 2. A session completes once. Of two clients with the same URL, the second gets a conflict.
 * 3. A rejected or interrupted upload leaves no file, and its URL remains usable until it expires.
 */
import { createHash } from 'node:crypto';
import { isDatabaseAway, sqlState } from '../../platform/database/database-errors.ts';
import { inTransaction, type Db, type Tx } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/http/errors.ts';
import { newTypeId, randomName, type OrganizationId } from '../../platform/values/ids.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { createVideoItem, isPresent, type ItemRow, type Metadata } from '../content/content.ts';
import { setSource } from '../content/item-media/item-media.ts';
import { enqueueProcessing } from '../processing/processing.ts';
import {
  completeSession,
  findSession,
  insertUploadSession,
  lockSession,
  removePartials,
  type UploadSession,
} from './queries.ts';
import type { ArrivedMedia } from './receive-media.ts';

export { uploadErrors } from './errors.ts';
export { discardRest } from './discard-rest.ts';
export { receiveSmallForm, type SmallForm } from './multipart.ts';
export { arrivedMedia, receiveBytes, receiveMedia, type UploadLimits } from './receive-media.ts';

export const tokenBytes = 24;

export type OpenedUpload = { row: ItemRow; token: string; expiresAt: Date };

/** Creates a pending item and the session for uploading its bytes. */
export async function openUpload(
  tx: Tx,
  organizationId: OrganizationId,
  metadata: Metadata,
  expiryMs: number,
): Promise<OpenedUpload> {
  const row = await createVideoItem(tx, organizationId, metadata);
  const token = randomName(tokenBytes);
  const expiresAt = await insertUploadSession(tx, {
    organizationId,
    sessionId: newTypeId('upl'),
    contentId: row.content_id,
    tokenHash: hashUploadToken(token),
    expiryMs,
  });
  return { row, token, expiresAt };
}

/**
 * The session of an upload URL, complete or not.
 * @throws {ApiError} NOT_FOUND
 */
export async function requireSession(db: Db, token: string): Promise<UploadSession> {
  const session = checkKnown(await findSession(db, hashUploadToken(token)));
  if (!(await isPresent(db, session.organizationId, session.contentId))) throw unknownUpload();
  return session;
}

/**
 * The open session of an upload URL.
 * @throws {ApiError} NOT_FOUND, CONFLICT
 */
export async function requireOpenSession(db: Db, token: string): Promise<UploadSession> {
  return checkOpen(await requireSession(db, token));
}

/**
 * The open session of a whole upload, not a part.
 * @throws {ApiError} NOT_FOUND, CONFLICT
 */
export async function requireWhole(db: Db, token: string): Promise<UploadSession> {
  const session = await requireOpenSession(db, token);
  if (session.wholeId === null) return session;
  throw new ApiError('CONFLICT', {
    message: 'This is a part of an upload. Send its bytes by PATCH.',
  });
}

/** The open session of an upload URL, or null. */
export async function findOpenSession(db: Db, token: string): Promise<UploadSession | null> {
  const session = await findSession(db, hashUploadToken(token));
  return session === null || session.isExpired || session.isCompleted ? null : session;
}

/**
 * Accepts media for a session's item. `concat` describes the parts they were joined from.
 * @throws {ApiError} NOT_FOUND, CONFLICT
 */
export async function completeUpload(
  db: Db,
  storage: Storage,
  token: string,
  media: ArrivedMedia,
  concat?: string,
): Promise<ItemRow> {
  const { contentId } = await requireWhole(db, token);
  const { sizeBytes: lengthBytes } = media;
  return withStoredSource(storage, contentId, media, (key) =>
    inTransaction(db, async (tx) => {
      const session = checkOpen(await lockSession(tx, hashUploadToken(token)));
      await completeSession(
        tx,
        session,
        concat === undefined ? undefined : { concat, lengthBytes },
      );
      await removePartials(tx, session);
      return acceptSource(tx, session.organizationId, contentId, key, media);
    }),
  );
}

/** Creates an item whose bytes have already been received. */
export async function createUploadedItem(
  tx: Tx,
  organizationId: OrganizationId,
  metadata: Metadata,
  source: { key: string; media: ArrivedMedia },
): Promise<ItemRow> {
  const { content_id: contentId } = await createVideoItem(tx, organizationId, metadata);
  return acceptSource(tx, organizationId, contentId, source.key, source.media);
}

/** Accepts stored bytes for a pending item. Returns false if the item no longer exists. */
export async function acceptReceived(
  tx: Tx,
  item: { organizationId: string; contentId: string; key: string; media: ArrivedMedia },
): Promise<boolean> {
  const { organizationId, contentId, key, media } = item;
  const source = { key, mediaType: media.mediaType };
  const row = await setSource(tx, organizationId as OrganizationId, contentId, source);
  if (row === null) return false;
  const { sizeBytes } = media;
  await enqueueProcessing(tx, organizationId, contentId, { step: 'first', sizeBytes });
  return true;
}

async function acceptSource(
  tx: Tx,
  organizationId: OrganizationId,
  contentId: string,
  key: string,
  { mediaType, sizeBytes }: ArrivedMedia,
): Promise<ItemRow> {
  const row = await setSource(tx, organizationId, contentId, { key, mediaType });
  if (row === null) throw unknownUpload();
  await enqueueProcessing(tx, organizationId, contentId, { step: 'first', sizeBytes });
  return row;
}

/**
 * Stores media under its final name before running `work`, and removes it again if `work` throws. A
 * crash or a lost database connection in between leaves a file without a row, which `sweepSources`
 * removes.
 */
export async function withStoredSource<T>(
  storage: Storage,
  name: string,
  media: ArrivedMedia,
  work: (key: string) => Promise<T>,
): Promise<T> {
  const key = `sources/${name}/${randomName(9)}`;
  await media.store(key);
  try {
    return await work(key);
  } catch (error) {
    if (wasRolledBack(error)) await storage.remove(key);
    throw error;
  }
}

/**
 * Whether it is certain that no row references the file. If the connection was lost during COMMIT,
 * the outcome is unknown; other errors prove nothing.
 */
export function wasRolledBack(error: unknown): boolean {
  return error instanceof ApiError || (sqlState(error) !== null && !isDatabaseAway(error));
}

function checkKnown(session: UploadSession | null): UploadSession {
  if (session === null || session.isExpired) throw unknownUpload();
  return session;
}

function checkOpen(found: UploadSession | null): UploadSession {
  const session = checkKnown(found);
  if (session.isCompleted) {
    throw new ApiError('CONFLICT', { message: 'The bytes of this upload have already arrived.' });
  }
  return session;
}

function unknownUpload(): ApiError {
  return new ApiError('NOT_FOUND', { message: 'This upload URL is unknown or has expired.' });
}

export function hashUploadToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
