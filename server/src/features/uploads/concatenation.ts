/**
 * Uploads in parallel parts: the `concatenation` extension of tus 1.0. The item's upload URL is the
 * whole; each part is an upload with its own URL.
 *
 *   POST `Upload-Concat: partial` → a part's URL takes its bytes → POST `Upload-Concat: final;<URLs>`
 *                                                                  joins the parts, in that order
 *
 * 1. A part belongs to the upload whose URL created it, expires with it, and can't be joined to
 *    others.
 * 2. All parts together are limited by the maximum upload size and by `maxPartials`.
 * 3. A part can be joined once it is complete; repeating the same join returns the same response.
 */
import { inTransaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/http/errors.ts';
import { newTypeId, randomName } from '../../platform/values/ids.ts';
import type { ItemRow } from '../content/content.ts';
import { findPartials, insertPartial, lockSession, type UploadSession } from './queries.ts';
import {
  completeFrom,
  offsetOf,
  removeUploadPieces,
  uploadTooLarge,
  type ResumableParts,
} from './resumable.ts';
import {
  findOpenSession,
  hashUploadToken,
  requireSession,
  requireWhole,
  tokenBytes,
} from './uploads.ts';

export const maxPartials = 64;

/**
 * Creates a part of an upload.
 * @throws {ApiError} NOT_FOUND, CONFLICT, PAYLOAD_TOO_LARGE, LIMIT_EXCEEDED
 */
export async function createPartial(
  { db, limits }: ResumableParts,
  wholeToken: string,
  lengthBytes: number,
): Promise<{ token: string; expiresAt: Date }> {
  const whole = await requireWhole(db, wholeToken);
  if (whole.lengthBytes !== null) {
    throw new ApiError('CONFLICT', {
      message:
        'This upload was created with a length, so send its bytes by PATCH instead of in parts.',
    });
  }
  const token = randomName(tokenBytes);
  await inTransaction(db, async (tx) => {
    await lockSession(tx, hashUploadToken(wholeToken));
    const partials = await findPartials(tx, whole);
    if (partials.length >= maxPartials) {
      throw new ApiError('LIMIT_EXCEEDED', {
        message: `An upload can have at most ${maxPartials} parts at a time.`,
      });
    }
    const declared = partials.reduce((sum, one) => sum + (one.lengthBytes ?? 0), lengthBytes);
    if (declared > limits.maxUploadBytes) throw uploadTooLarge(limits);
    await insertPartial(tx, whole, {
      sessionId: newTypeId('upl'),
      tokenHash: hashUploadToken(token),
      lengthBytes,
    });
  });
  return { token, expiresAt: whole.expiresAt };
}

/**
 * Joins the parts with the given tokens in order, and accepts the result as the item's bytes.
 * @returns null if the same join was done before
 * @throws {ApiError} NOT_FOUND, CONFLICT (incomplete part), INVALID_REQUEST (not parts of this
 *   upload), INVALID_MEDIA
 */
export async function joinPartials(
  parts: ResumableParts,
  wholeToken: string,
  { concat, tokens }: { concat: string; tokens: readonly string[] },
): Promise<{ row: ItemRow | null; session: UploadSession }> {
  const session = await requireSession(parts.db, wholeToken);
  if (session.isCompleted && session.concat === concat) return { row: null, session };
  const whole = await requireWhole(parts.db, wholeToken);
  if (new Set(tokens).size < tokens.length) throw notItsPart();
  const chosen: UploadSession[] = [];
  for (const token of tokens) chosen.push(await requirePartial(parts, whole, token));
  const row = await completeFrom(parts, wholeToken, {
    pieces: chosen.flatMap((partial) => partial.parts),
    concat,
  });
  await removeUploadPieces(parts.storage, chosen);
  return { row, session: await requireSession(parts.db, wholeToken) };
}

async function requirePartial(
  { db }: ResumableParts,
  whole: UploadSession,
  token: string,
): Promise<UploadSession> {
  const partial = await findOpenSession(db, token);
  if (partial?.wholeId !== whole.sessionId) throw notItsPart();
  if (offsetOf(partial) === partial.lengthBytes) return partial;
  throw new ApiError('CONFLICT', {
    message: `A part is incomplete: it has ${offsetOf(partial)} of ${partial.lengthBytes} bytes.`,
  });
}

function notItsPart(): ApiError {
  return new ApiError('INVALID_REQUEST', {
    message: 'Upload-Concat: final must list parts of this upload, each exactly once.',
  });
}

/**
 * Parses `Upload-Concat`.
 * @throws {ApiError} INVALID_REQUEST
 */
export function readConcat(
  header: string | string[] | undefined,
): { kind: 'partial' } | { kind: 'final'; concat: string; tokens: string[] } | null {
  if (header === undefined) return null;
  if (header === 'partial') return { kind: 'partial' };
  const value = String(header);
  const urls = value.startsWith('final;') ? value.slice('final;'.length).trim().split(/ +/) : [];
  const tokens = urls.map((url) => /\/v1\/uploads\/([\w-]+)$/.exec(url)?.[1] ?? '');
  if (tokens.length === 0 || tokens.includes('') || tokens.length > maxPartials) {
    throw new ApiError('INVALID_REQUEST', {
      message: `Upload-Concat must be partial, or final; followed by the URLs of 1 to ${maxPartials} parts, separated by spaces.`,
    });
  }
  return { kind: 'final', concat: value, tokens };
}
