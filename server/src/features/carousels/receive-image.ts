/** Receives one image of a carousel in two sizes. */
import type { FastifyRequest } from 'fastify';
import { fieldError } from '../../platform/http/errors.ts';
import {
  receiveImageForm,
  storeImageFiles,
  type ImageOwner,
  type ImageParts,
} from '../images/images.ts';
import type { NewImage } from './carousels.ts';

export const maxAltTextLength = 1000;

/**
 * Stores the image of a form with a `file` part and an optional `altText` field, in a new folder
 * that no row references yet.
 * @throws {ApiError} VALIDATION_ERROR, INVALID_MEDIA, PAYLOAD_TOO_LARGE, INSUFFICIENT_STORAGE,
 *   UNAVAILABLE
 */
export async function receiveImage(
  parts: ImageParts,
  { request, signal }: { request: FastifyRequest; signal: AbortSignal },
  owner: ImageOwner,
): Promise<NewImage & { sha256: string }> {
  const form = await receiveImageForm(parts, request, owner.organizationId);
  await using file = form.file;
  const image = { file, altText: readAltText(form.fields), owner };
  return { ...(await storeImage(parts, image, signal)), sha256: file.sha256 };
}

/**
 * Stores an image in a new folder that no row references yet.
 * @throws {ApiError} INVALID_MEDIA, UNAVAILABLE
 */
export async function storeImage(
  parts: Omit<ImageParts, 'upload'>,
  image: { file: { readonly path: string }; altText: string | null; owner: ImageOwner },
  signal: AbortSignal,
): Promise<NewImage> {
  const { file, altText, owner } = image;
  const { assetId, folder } = await storeImageFiles(parts, file.path, owner, (files) =>
    parts.imageDecoder.decode(files, owner.organizationId, signal),
  );
  return { imageId: assetId, folder, altText };
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
