/** Receiving one image: a form is read, its bytes are decoded in the media child and stored. */
import path from 'node:path';
import type { FastifyRequest } from 'fastify';
import type { Db } from '../../platform/database/database.ts';
import { ApiError, fieldError } from '../../platform/http/errors.ts';
import { newContentId } from '../../platform/ids.ts';
import { publishFolder } from '../../platform/storage/folders.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { assetFolder, expectFiles } from '../assets/assets.ts';
import { MediaError, sniffImage, type ImageDecoder } from '../media/media.ts';
import { receiveSmallForm, uploadErrors, type UploadLimits } from '../uploads/uploads.ts';
import type { NewImage } from './carousels.ts';

export const maxImageBytes = 10 * 1024 * 1024;
export const maxAltTextLength = 1000;

export type ImageParts = {
  db: Db;
  storage: Storage;
  upload: UploadLimits;
  imageDecoder: ImageDecoder;
};

/**
 * Stores the image of a form with a part `file` and an optional field `altText`, in two sizes, under
 * a folder of its own that no row names yet.
 *
 * @throws ApiError VALIDATION_ERROR, INVALID_MEDIA, PAYLOAD_TOO_LARGE, INSUFFICIENT_STORAGE, UNAVAILABLE
 */
export async function receiveImage(
  { db, storage, upload, imageDecoder }: ImageParts,
  { request, signal }: { request: FastifyRequest; signal: AbortSignal },
  { organizationId, playbackId }: { organizationId: string; playbackId: string },
): Promise<NewImage & { sha256: string }> {
  imageDecoder.requireRoom(organizationId);
  const form = await receiveSmallForm(request, storage, {
    ...upload,
    maxUploadBytes: maxImageBytes,
    checkHead: requireImage,
  });
  await using file = form.file;
  const altText = readAltText(form.fields);
  const image = await storeImage(
    { db, storage, imageDecoder },
    { file, altText, organizationId, playbackId },
    signal,
  );
  return { ...image, sha256: file.sha256 };
}

/**
 * Stores an image in two sizes, under a folder of its own that no row names yet.
 *
 * @throws ApiError INVALID_MEDIA, UNAVAILABLE
 */
export async function storeImage(
  { db, storage, imageDecoder }: Omit<ImageParts, 'upload'>,
  image: {
    file: { readonly path: string };
    altText: string | null;
    organizationId: string;
    playbackId: string;
  },
  signal: AbortSignal,
): Promise<NewImage> {
  const { file, altText, organizationId, playbackId } = image;
  const imageId = newContentId();
  await using work = await storage.scratch.createFolder('image');
  const outputDir = path.join(work.path, 'out');
  const files = { sourcePath: file.path, outputDir };
  await imageDecoder.decode(files, organizationId, signal).catch((error: unknown) => {
    throw asInvalidMedia(error);
  });
  const folder = assetFolder(playbackId, imageId);
  await expectFiles(db, organizationId, folder);
  await publishFolder(storage, outputDir, `media/${folder}`);
  return { imageId, folder, altText };
}

/** @throws ApiError INVALID_MEDIA */
export function requireImage(head: Buffer): void {
  if (sniffImage(head) !== null) return;
  throw new ApiError(uploadErrors.INVALID_MEDIA, {
    message: 'The bytes are not a JPEG, PNG, WebP, AVIF or HEIC image.',
  });
}

function asInvalidMedia(error: unknown): unknown {
  if (!(error instanceof MediaError) || error.code === 'PROCESSING_FAILED') return error;
  return new ApiError(uploadErrors.INVALID_MEDIA, { message: error.message, cause: error });
}

function readAltText(fields: ReadonlyMap<string, string>): string | null {
  for (const name of fields.keys()) {
    if (name !== 'altText') throw fieldError(name, 'is not a known field');
  }
  const altText = fields.get('altText') ?? '';
  if ([...altText].length > maxAltTextLength) {
    throw fieldError('altText', `must be at most ${maxAltTextLength} characters`);
  }
  return altText === '' ? null : altText;
}
