/**
 * Resumable uploads by tus 1.0 at the upload URL itself.
 *
 *   (no length) → created (POST sets the length) → bytes arrive (PATCH) → complete
 *                                                └→ terminated (DELETE), expired
 *
 * The offset is the total size of the pieces in the row, see `receive-part.ts`. Uploads in parallel
 * parts are in `concatenation.ts`.
 */
import { inTransaction, type Db } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/http/errors.ts';
import { joined } from '../../platform/storage/joined.ts';
import type { Piece, Storage } from '../../platform/storage/storage.ts';
import { type ItemRow } from '../content/content.ts';
import { failWithoutSource } from '../content/item-media/item-media.ts';
import { SNIFF_BYTES } from '../media/media.ts';
import { recordEvent } from '../webhooks/webhooks.ts';
import { findPartials, removeSession, setUploadLength, type UploadSession } from './queries.ts';
import { requireMedia, type UploadLimits } from './receive-media.ts';
import { completeUpload, requireOpenSession, requireSession } from './uploads.ts';

export type ResumableParts = { db: Db; storage: Storage; limits: UploadLimits };

export const partsPrefix = 'partials';

/** Number of received bytes; the whole length if the upload is complete. */
export function offsetOf({ isCompleted, lengthBytes, parts }: UploadSession): number {
  return isCompleted && lengthBytes !== null ? lengthBytes : sizeOf(parts);
}

export function sizeOf(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}

/** Sets the length of the upload. Repeating it with the same length changes nothing. */
export async function createResumable(
  { db, limits }: ResumableParts,
  token: string,
  lengthBytes: number,
): Promise<UploadSession> {
  if (lengthBytes > limits.maxUploadBytes) throw uploadTooLarge(limits);
  const session = await requireOpenSession(db, token);
  if (session.lengthBytes !== null && session.lengthBytes !== lengthBytes) {
    throw new ApiError('CONFLICT', {
      message: `This upload was created with a length of ${session.lengthBytes} bytes.`,
    });
  }
  await inTransaction(db, (tx) => setUploadLength(tx, session, lengthBytes));
  return { ...session, lengthBytes };
}

export type Resumable = UploadSession & { lengthBytes: number };

/**
 * The session of an upload, even a complete one, so that a client whose last response was lost can
 * find out. If the last part arrived just before a crash, the upload is completed here.
 * @throws {ApiError} NOT_FOUND, CONFLICT (not created yet), INVALID_MEDIA
 */
export async function findProgress(
  parts: ResumableParts,
  token: string,
): Promise<{ session: Resumable; isCompletedNow: boolean }> {
  const session = requireCreated(await requireSession(parts.db, token));
  const isWhole = session.wholeId === null && offsetOf(session) === session.lengthBytes;
  if (session.isCompleted || !isWhole) return { session, isCompletedNow: false };
  try {
    await finishUpload(parts, token);
    return { session, isCompletedNow: true };
  } catch (error) {
    // The request with the last part, or another query, was faster.
    const { isCompleted } = await requireSession(parts.db, token);
    if (isCompleted) return { session, isCompletedNow: false };
    throw error;
  }
}

/**
 * The session of an upload created through tus.
 * @throws {ApiError} NOT_FOUND, CONFLICT
 */
export async function requireResumable(db: Db, token: string): Promise<Resumable> {
  return requireCreated(await requireOpenSession(db, token));
}

function requireCreated(session: UploadSession): Resumable {
  const { lengthBytes } = session;
  if (lengthBytes === null) {
    throw new ApiError('CONFLICT', {
      message: 'Create the upload with a POST with Upload-Length first.',
    });
  }
  return { ...session, lengthBytes };
}

/** Accepts an upload's pieces as its item's bytes. */
export async function finishUpload(parts: ResumableParts, token: string): Promise<ItemRow> {
  const session = await requireResumable(parts.db, token);
  const row = await completeFrom(parts, token, { pieces: session.parts });
  await removeUploadPieces(parts.storage, [session]);
  return row;
}

/**
 * Joins pieces into one object and accepts it as the item's bytes.
 * @throws {ApiError} INVALID_MEDIA, NOT_FOUND, CONFLICT (already complete)
 */
export async function completeFrom(
  { db, storage, limits }: ResumableParts,
  token: string,
  { pieces, concat }: { pieces: readonly Piece[]; concat?: string },
): Promise<ItemRow> {
  const { minFreeBytes } = limits;
  const media = {
    mediaType: requireMedia(await readHead(storage, pieces)),
    sizeBytes: sizeOf(pieces),
    store: (key: string) => storage.join(key, pieces, { minFreeBytes }),
  };
  return completeUpload(db, storage, token, media, concat);
}

export async function removeUploadPieces(
  storage: Storage,
  sessions: readonly Pick<UploadSession, 'sessionId'>[],
): Promise<void> {
  for (const { sessionId } of sessions) await storage.removePrefix(`${partsPrefix}/${sessionId}`);
}

/** The part of the file needed to tell media from other files. */
async function readHead(storage: Storage, pieces: readonly Piece[]): Promise<Buffer> {
  const held: Buffer[] = [];
  let heldBytes = 0;
  for await (const chunk of joined(storage, pieces)) {
    held.push(chunk);
    heldBytes += chunk.length;
    if (heldBytes >= SNIFF_BYTES) break;
  }
  return Buffer.concat(held).subarray(0, SNIFF_BYTES);
}

const terminated = {
  code: 'SOURCE_UNREACHABLE',
  message: 'The upload was terminated by its sender.',
} as const;

/** Terminates an upload: removes its bytes and fails its item, unless it is only a part. */
export async function terminate({ db, storage }: ResumableParts, token: string): Promise<void> {
  const session = await requireOpenSession(db, token);
  const { organizationId, contentId, wholeId } = session;
  const partials = await findPartials(db, session);
  await inTransaction(db, async (tx) => {
    await removeSession(tx, session);
    if (wholeId !== null) return;
    const failed = await failWithoutSource(tx, [{ organizationId, contentId }], terminated);
    for (const { title } of failed) {
      const data = { contentId, title, status: 'error', error: terminated } as const;
      await recordEvent(tx, organizationId, 'content.errored', data);
    }
  });
  await removeUploadPieces(storage, [session, ...partials]);
}

export function uploadTooLarge({ maxUploadBytes }: UploadLimits): ApiError {
  return new ApiError('PAYLOAD_TOO_LARGE', {
    message: `The file is larger than the maximum of ${maxUploadBytes} bytes.`,
  });
}
