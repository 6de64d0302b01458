/** Receives an image as a cover, stored as thumbnails. */
import type { FastifyRequest } from 'fastify';
import { fieldError } from '../../platform/http/errors.ts';
import {
  receiveImageForm,
  storeImageFiles,
  type ImageOwner,
  type ImageParts,
} from '../images/images.ts';
import type { NewCover } from './covers.ts';

/**
 * Stores the image of a form with a `file` part in a new folder that no row references yet.
 * @throws {ApiError} VALIDATION_ERROR, INVALID_MEDIA, PAYLOAD_TOO_LARGE, INSUFFICIENT_STORAGE,
 *   UNAVAILABLE
 */
export async function receiveCover(
  parts: ImageParts,
  { request, signal }: { request: FastifyRequest; signal: AbortSignal },
  owner: ImageOwner,
): Promise<NewCover & { sha256: string }> {
  const form = await receiveImageForm(parts, request, owner.organizationId);
  await using file = form.file;
  for (const name of form.fields.keys()) throw fieldError(name, 'is not a known field');
  const cover = await storeImageFiles(parts, file.path, owner, (files) =>
    parts.imageDecoder.decodeThumbnails(files, owner.organizationId, signal),
  );
  return { ...cover, sha256: file.sha256 };
}
