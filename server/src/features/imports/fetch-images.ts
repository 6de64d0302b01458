/** Fetches the images of a carousel; if one fails, the import fails. */
import type { Db } from '../../platform/database/database.ts';
import type { OrganizationId } from '../../platform/values/ids.ts';
import type { JobContext } from '../../platform/queue/job-handler.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { addImage, storeImage, type NewImage } from '../carousels/carousels.ts';
import { isPresent } from '../content/content.ts';
import { findMediaSource, markComplete } from '../content/item-media/item-media.ts';
import { maxImageBytes, requireImage, type ImageOwner } from '../images/images.ts';
import type { ImageDecoder } from '../media/media.ts';
import { receiveBytes, type UploadLimits } from '../uploads/uploads.ts';
import { recordEvent } from '../webhooks/webhooks.ts';
import { faultOf, ImageFault } from './faults.ts';
import { failImport } from './imports.ts';
import { deleteSource, type ImageSource } from './queries.ts';

export type FetchImagesParts = {
  db: Db;
  storage: Storage;
  upload: UploadLimits;
  imageDecoder: ImageDecoder;
  /** Opens a source's bytes. */
  open: (url: string) => AsyncGenerator<Buffer>;
  onProgress: (done: number, total: number) => void;
};

const archivedMeanwhile = {
  code: 'SOURCE_UNREACHABLE',
  message: 'The item was archived before its images were fetched.',
} as const;

/** @throws {ImageFault}, and errors not caused by an image */
export async function fetchImages(
  parts: FetchImagesParts,
  context: JobContext,
  contentId: string,
  images: readonly ImageSource[],
): Promise<void> {
  const { db, storage } = parts;
  const { organizationId } = context;
  const organization = organizationId as OrganizationId;
  const item = await findMediaSource(db, organizationId, contentId);
  if (item === null) return;
  const stored: NewImage[] = [];
  let isNamed = false;
  try {
    for (const [index, source] of images.entries()) {
      const owner = { organizationId, playbackId: item.playbackId };
      stored.push(await fetchImage(parts, context, owner, source, index));
      parts.onProgress(index + 1, images.length);
    }
    // A commit whose response was lost may have succeeded; unreferenced files are removed later.
    isNamed = true;
    await context.finish(async (tx): Promise<void> => {
      if (!(await isPresent(tx, organization, contentId))) {
        return failImport(tx, organizationId, contentId, archivedMeanwhile);
      }
      for (const image of stored) await addImage(tx, organization, contentId, image);
      const row = await markComplete(tx, organizationId, contentId);
      await deleteSource(tx, organizationId, contentId);
      if (row === null) return;
      const { title } = row;
      const data = { contentId, title, duration: null, status: 'ready' } as const;
      await recordEvent(tx, organizationId, 'content.ready', data);
    });
  } finally {
    if (!isNamed) for (const { folder } of stored) await storage.removePrefix(`media/${folder}`);
  }
}

async function fetchImage(
  parts: FetchImagesParts,
  { signal }: JobContext,
  owner: ImageOwner,
  { sourceUrl, altText }: ImageSource,
  index: number,
): Promise<NewImage> {
  const { storage, upload } = parts;
  const limits = { ...upload, maxUploadBytes: maxImageBytes };
  try {
    await using body = parts.open(sourceUrl);
    await using file = await receiveBytes(storage, body, limits, requireImage, signal);
    return await storeImage(parts, { file, altText, owner }, signal);
  } catch (error) {
    const fault = faultOf(error);
    if (fault === null) throw error;
    throw new ImageFault(index, fault, error);
  }
}
