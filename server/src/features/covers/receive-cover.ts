/** Receiving an image as a cover: its bytes are decoded in the media child and stored. */
import path from 'node:path';
import type { FastifyRequest } from 'fastify';
import type { Db } from '../../platform/database/database.ts';
import { ApiError, fieldError } from '../../platform/http/errors.ts';
import { newContentId, type OrganizationId } from '../../platform/ids.ts';
import { publishFolder } from '../../platform/storage/folders.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { assetFolder, expectFiles } from '../assets/assets.ts';
import { MediaError, sniffImage, type ImageDecoder } from '../media/media.ts';
import { receiveSmallForm, uploadErrors, type UploadLimits } from '../uploads/uploads.ts';
import type { NewCover } from './covers.ts';

const maxImageBytes = 10 * 1024 * 1024;

export type CoverParts = {
  db: Db;
  storage: Storage;
  upload: UploadLimits;
  imageDecoder: ImageDecoder;
};

/**
 * Stores the image of a form with a part `file` as thumbnails, under a folder of its own that no row
 * names yet.
 *
 * @throws ApiError VALIDATION_ERROR, INVALID_MEDIA, PAYLOAD_TOO_LARGE, INSUFFICIENT_STORAGE, UNAVAILABLE
 */
export async function receiveCover(
  { db, imageDecoder, storage, upload }: CoverParts,
  { request, signal }: { request: FastifyRequest; signal: AbortSignal },
  { organizationId, playbackId }: { organizationId: OrganizationId; playbackId: string },
): Promise<NewCover & { sha256: string }> {
  imageDecoder.requireRoom(organizationId);
  const form = await receiveSmallForm(request, storage, {
    ...upload,
    maxUploadBytes: maxImageBytes,
    checkHead: requireImage,
  });
  await using file = form.file;
  for (const name of form.fields.keys()) throw fieldError(name, 'is not a known field');
  await using work = await storage.scratch.createFolder('cover');
  const outputDir = path.join(work.path, 'out');
  const files = { sourcePath: file.path, outputDir };
  const facts = await imageDecoder
    .decodeThumbnails(files, organizationId, signal)
    .catch((error: unknown) => {
      throw asInvalidMedia(error);
    });
  const assetId = newContentId();
  const folder = assetFolder(playbackId, assetId);
  await expectFiles(db, organizationId, folder);
  await publishFolder(storage, outputDir, `media/${folder}`);
  return { assetId, folder, facts, sha256: file.sha256 };
}

function requireImage(head: Buffer): void {
  if (sniffImage(head) !== null) return;
  throw new ApiError(uploadErrors.INVALID_MEDIA, {
    message: 'The bytes are not a JPEG, PNG, WebP, AVIF or HEIC image.',
  });
}

function asInvalidMedia(error: unknown): unknown {
  if (!(error instanceof MediaError) || error.code === 'PROCESSING_FAILED') return error;
  return new ApiError(uploadErrors.INVALID_MEDIA, { message: error.message, cause: error });
}
