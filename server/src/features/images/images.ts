/**
 * Images uploaded for an item: received as a form, decoded in the media child, and stored in a new
 * folder that a row references once the change is committed.
 */
import path from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Db, Tx } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/http/errors.ts';
import type { Answer, Mutations } from '../../platform/idempotency/idempotency.ts';
import { newContentId } from '../../platform/values/ids.ts';
import { publishFolder } from '../../platform/storage/folders.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { assetFolder, expectFiles } from '../assets/assets.ts';
import { MediaError, sniffImage, type ImageDecoder, type ImageFiles } from '../media/media.ts';
import {
  receiveSmallForm,
  uploadErrors,
  wasRolledBack,
  type SmallForm,
  type UploadLimits,
} from '../uploads/uploads.ts';

export const maxImageBytes = 10 * 1024 * 1024;

export type ImageStoreParts = { db: Db; storage: Storage };

export type ImageParts = ImageStoreParts & { upload: UploadLimits; imageDecoder: ImageDecoder };

/** An item that owns images. */
export type ImageOwner = { readonly organizationId: string; readonly playbackId: string };

/**
 * The schema of a request body with an image in the `file` part; `fields` are schemas of further
 * parts.
 */
export function imageForm(fields: Record<string, object> = {}) {
  const description = 'JPEG, PNG, WebP, AVIF or HEIC; at most 10 MB.';
  const file = { type: 'string', format: 'binary', description };
  const schema = { type: 'object', required: ['file'], properties: { file, ...fields } };
  return { 'multipart/form-data': { schema } };
}

/**
 * Receives a form with an image in the `file` part. The caller disposes of the file.
 * @throws {ApiError} VALIDATION_ERROR, INVALID_MEDIA, PAYLOAD_TOO_LARGE, INSUFFICIENT_STORAGE,
 *   UNAVAILABLE
 */
export async function receiveImageForm(
  { imageDecoder, storage, upload }: ImageParts,
  request: FastifyRequest,
  organizationId: string,
): Promise<SmallForm> {
  imageDecoder.requireRoom(organizationId);
  const limits = { ...upload, maxUploadBytes: maxImageBytes, checkHead: requireImage };
  return receiveSmallForm(request, storage, limits);
}

/** @throws {ApiError} INVALID_MEDIA */
export function requireImage(head: Buffer): void {
  if (sniffImage(head) !== null) return;
  throw new ApiError(uploadErrors.INVALID_MEDIA, {
    message: 'The bytes are not a JPEG, PNG, WebP, AVIF or HEIC image.',
  });
}

/**
 * Decodes an image and stores the results in a folder that no row references yet.
 * @throws {ApiError} INVALID_MEDIA, UNAVAILABLE
 */
export async function storeImageFiles<Facts>(
  { db, storage }: ImageStoreParts,
  sourcePath: string,
  { organizationId, playbackId }: ImageOwner,
  decode: (files: ImageFiles) => Promise<Facts>,
): Promise<{ assetId: string; folder: string; facts: Facts }> {
  await using work = await storage.scratch.createFolder('image');
  const outputDir = path.join(work.path, 'out');
  const facts = await decode({ sourcePath, outputDir }).catch((error: unknown) => {
    throw asInvalidMedia(error);
  });
  const assetId = newContentId();
  const folder = assetFolder(playbackId, assetId);
  await expectFiles(db, organizationId, folder);
  await publishFolder(storage, outputDir, `media/${folder}`);
  return { assetId, folder, facts };
}

function asInvalidMedia(error: unknown): unknown {
  if (!(error instanceof MediaError) || error.code === 'PROCESSING_FAILED') return error;
  return new ApiError(uploadErrors.INVALID_MEDIA, { message: error.message, cause: error });
}

/**
 * Runs the change that references a request's stored files. If the change fails, or the response is
 * a replay of an earlier request's, the files are removed.
 * @param fingerprint tells this request from another with the same idempotency key
 */
export async function nameFiles(
  { mutations, storage }: { mutations: Mutations; storage: Storage },
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  { folder, fingerprint }: { folder: string; fingerprint: string },
  change: (tx: Tx) => Promise<Answer>,
): Promise<void> {
  let isNamed = false;
  try {
    await mutations.mutate(
      request,
      reply,
      async (tx) => {
        isNamed = true;
        return change(tx);
      },
      fingerprint,
    );
  } catch (error) {
    // A commit whose response was lost may have succeeded.
    isNamed = !wasRolledBack(error);
    throw error;
  } finally {
    if (!isNamed) await storage.removePrefix(`media/${folder}`);
  }
}

/** Aborts when the client closes its connection, since nobody is waiting for the image then. */
export function untilGone({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController();
  const gone = () =>
    controller.abort(new ApiError('INVALID_REQUEST', { message: 'The client disconnected.' }));
  if (raw.closed) gone();
  else raw.once('close', gone);
  return controller.signal;
}
