/**
 * Resumable uploads by tus 1.0, on the upload URL itself.
 *
 *   (no length) → created (POST says the length) → parts arrive (PATCH) → complete
 *                                                └→ terminated (DELETE), expired
 *
 * 1. The offset is the sum of the parts that a row names. A part is a stored file, synced before
 *    the row names it, so an offset that was answered survives a kill, and any process continues.
 * 2. A part is named only when the offset is still where it began: of two senders at the same
 *    offset, one is told 409, and its bytes go.
 * 3. A part whose transfer breaks is kept up to where it broke, unless it has a checksum, which can
 *    only be verified over the whole part.
 */
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { inTransaction, type Db } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/http/errors.ts';
import { randomName } from '../../platform/ids.ts';
import { joined } from '../../platform/storage/joined.ts';
import type { ReceivedFile } from '../../platform/storage/receive.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { failWithoutSource, type ItemRow } from '../content/content.ts';
import { SNIFF_BYTES } from '../media/media.ts';
import { recordEvent } from '../webhooks/webhooks.ts';
import { uploadErrors } from './errors.ts';
import { appendPart, removeSession, setUploadLength, type UploadSession } from './queries.ts';
import { receiveBytes, requireMedia, type UploadLimits } from './receive-media.ts';
import { completeUpload, requireOpenSession, requireSession } from './uploads.ts';

export type ResumableParts = { db: Db; storage: Storage; limits: UploadLimits };

export const partsPrefix = 'partials';

/** Whether enough has come to tell media from other files. */
const sniffableBytes = 4_096;

export function offsetOf({ parts }: UploadSession): number {
  return parts.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}

/** Says how long the upload will be. A repeat with the same length changes nothing. */
export async function createResumable(
  { db, limits }: ResumableParts,
  token: string,
  lengthBytes: number,
): Promise<UploadSession> {
  if (lengthBytes > limits.maxUploadBytes) {
    throw new ApiError('PAYLOAD_TOO_LARGE', {
      message: `The file is larger than ${limits.maxUploadBytes} bytes, the maximum.`,
    });
  }
  const session = await requireOpenSession(db, token);
  if (session.lengthBytes !== null && session.lengthBytes !== lengthBytes) {
    throw new ApiError('CONFLICT', {
      message: `This upload was created with a length of ${session.lengthBytes} bytes.`,
    });
  }
  await inTransaction(db, (tx) => setUploadLength(tx, session, lengthBytes));
  return { ...session, lengthBytes };
}

type Resumable = UploadSession & { lengthBytes: number };

/**
 * The session of an upload, also of one that is complete, so that a sender whose last answer was
 * lost learns it. An upload whose last part arrived just before a kill is completed here.
 *
 * @throws ApiError NOT_FOUND, CONFLICT (not created yet), INVALID_MEDIA
 */
export async function findProgress(
  parts: ResumableParts,
  token: string,
): Promise<{ session: Resumable; isCompletedNow: boolean }> {
  const session = requireCreated(await requireSession(parts.db, token));
  if (session.isCompleted || offsetOf(session) < session.lengthBytes) {
    return { session, isCompletedNow: false };
  }
  try {
    await complete(parts, token);
    return { session, isCompletedNow: true };
  } catch (error) {
    // The request that brought the last part, or another question, was faster.
    const { isCompleted } = await requireSession(parts.db, token);
    if (isCompleted) return { session, isCompletedNow: false };
    throw error;
  }
}

/** The session of an upload that was created by tus. @throws ApiError NOT_FOUND, CONFLICT */
export async function requireResumable(db: Db, token: string): Promise<Resumable> {
  return requireCreated(await requireOpenSession(db, token));
}

function requireCreated(session: UploadSession): Resumable {
  const { lengthBytes } = session;
  if (lengthBytes === null) {
    throw new ApiError('CONFLICT', {
      message: 'Create the upload by a POST with Upload-Length first.',
    });
  }
  return { ...session, lengthBytes };
}

export type Checksum = { algorithm: 'sha1' | 'sha256' | 'md5'; digest: Buffer };

export type Part = {
  offset: number;
  checksum: Checksum | null;
  source: Readable;
  signal: AbortSignal;
};

/**
 * Takes the bytes of one PATCH. @returns the offset behind them, and the item when it is complete
 *
 * @throws ApiError CONFLICT (another offset), CHECKSUM_MISMATCH, INVALID_MEDIA, PAYLOAD_TOO_LARGE
 */
export async function receivePart(
  parts: ResumableParts,
  token: string,
  part: Part,
): Promise<{ offset: number; row: ItemRow | null }> {
  const session = await requireResumable(parts.db, token);
  const offset = offsetOf(session);
  if (part.offset !== offset) throw wrongOffset(offset);
  const missingBytes = session.lengthBytes - offset;
  await using file = await receivePartFile(parts, part, missingBytes);
  let next = offset;
  if (file.sizeBytes > 0) {
    const key = `${partsPrefix}/${session.sessionId}/${offset}-${randomName(9)}`;
    const sizeBytes = file.sizeBytes;
    await parts.storage.put(key, file);
    const isNamed = await inTransaction(parts.db, (tx) =>
      appendPart(tx, session, offset, { key, sizeBytes }),
    );
    if (!isNamed) {
      await parts.storage.remove(key);
      throw wrongOffset(offset);
    }
    next += sizeBytes;
  }
  if (next < session.lengthBytes) return { offset: next, row: null };
  return { offset: next, row: await complete(parts, token) };
}

async function receivePartFile(
  { storage, limits }: ResumableParts,
  { source, checksum, offset, signal }: Part,
  missingBytes: number,
): Promise<ReceivedFile> {
  const hash = checksum === null ? null : createHash(checksum.algorithm);
  async function* bytes(): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of source as AsyncIterable<Buffer>) {
        hash?.update(chunk);
        yield chunk;
      }
    } catch (error) {
      // The sender has gone, or fell silent: what came is kept, see rule 3.
      if (checksum !== null || signal.aborted) throw error;
    }
  }
  const check = (head: Buffer) => {
    if (offset === 0 && head.length >= sniffableBytes) requireMedia(head);
  };
  const bounded = { ...limits, maxUploadBytes: missingBytes };
  const file = await receiveBytes(storage, bytes(), bounded, check, signal);
  if (checksum !== null && hash?.digest().equals(checksum.digest) !== true) {
    await file[Symbol.asyncDispose]();
    throw new ApiError(uploadErrors.CHECKSUM_MISMATCH);
  }
  return file;
}

/** Joins the parts to one object and takes it as the bytes of the item. */
async function complete({ db, storage, limits }: ResumableParts, token: string): Promise<ItemRow> {
  const session = await requireResumable(db, token);
  const keys = session.parts.map(({ key }) => key);
  const mediaType = requireMedia(await readHead(storage, keys));
  const { minFreeBytes } = limits;
  const row = await completeUpload(db, storage, token, {
    mediaType,
    sizeBytes: offsetOf(session),
    store: (key) => storage.join(key, keys, { minFreeBytes }),
  });
  await storage.removePrefix(`${partsPrefix}/${session.sessionId}`);
  return row;
}

/** What of the file is needed to tell media from other files. */
async function readHead(storage: Storage, keys: readonly string[]): Promise<Buffer> {
  const held: Buffer[] = [];
  let heldBytes = 0;
  for await (const chunk of joined(storage, keys)) {
    held.push(chunk);
    heldBytes += chunk.length;
    if (heldBytes >= SNIFF_BYTES) break;
  }
  return Buffer.concat(held).subarray(0, SNIFF_BYTES);
}

const terminated = {
  code: 'SOURCE_UNREACHABLE',
  message: 'The upload was ended by its sender.',
} as const;

/** Ends an upload for good: its parts go, and its item fails. */
export async function terminate({ db, storage }: ResumableParts, token: string): Promise<void> {
  const session = await requireOpenSession(db, token);
  const { organizationId, contentId, sessionId } = session;
  await inTransaction(db, async (tx) => {
    await removeSession(tx, session);
    const failed = await failWithoutSource(tx, [{ organizationId, contentId }], terminated);
    for (const { title } of failed) {
      const data = { contentId, title, status: 'error', error: terminated } as const;
      await recordEvent(tx, organizationId, 'content.errored', data);
    }
  });
  await storage.removePrefix(`${partsPrefix}/${sessionId}`);
}

function wrongOffset(offset: number): ApiError {
  return new ApiError('CONFLICT', {
    message: `The upload is not at this offset. Ask for it by HEAD; it was at ${offset}.`,
  });
}
