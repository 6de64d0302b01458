/**
 * Carousels: items that hold images or refer to videos. A carousel is ready when it is created, but
 * not in the feed while it has nothing to show.
 *
 * 1. Every change locks the carousel, to serialize concurrent additions and reorderings.
 * 2. An image carousel has at most 10 images, a video carousel at most 10 distinct entries.
 * 3. An entry refers to a ready video of the same organization that is not archived. If the video
 *    becomes ineligible later, the feed omits it; the entry stays.
 */
import type { Db, Tx } from '../../platform/database/database.ts';
import { ApiError, fieldError, type ErrorDetail } from '../../platform/http/errors.ts';
import { newContentId, parseContentId, type OrganizationId } from '../../platform/values/ids.ts';
import { addAsset, orderAssets, removeAsset } from '../assets/assets.ts';
import {
  addEntries,
  contentErrors,
  findEntries,
  findItems,
  getItem,
  lockItemOrThrow,
  removeEntry,
  setEntryOrder,
  type CarouselEntry,
  type ContentType,
  type ItemRow,
  type LockedItem,
} from '../content/content.ts';
import { maxEntries } from './schemas.ts';

export { maxAltTextLength, storeImage } from './receive-image.ts';
export { maxEntries } from './schemas.ts';

export type VideoReference = { contentId: string; position?: number };

/** @throws {ApiError} NOT_FOUND, VALIDATION_ERROR, LIMIT_EXCEEDED, CONTENT_NOT_READY, CONFLICT */
export async function addVideos(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
  videos: readonly VideoReference[],
): Promise<CarouselEntry[]> {
  const carousel = await lockCarousel(tx, organizationId, id, 'video_carousel');
  const present = await findEntries(tx, organizationId, carousel.content_id);
  if (present.length + videos.length > maxEntries) throw tooMany('videos');
  const contentIds = await requireVideos(tx, organizationId, videos);
  const taken = new Set(present.map((entry) => entry.contentId));
  const added = contentIds.map((contentId, index) => {
    if (taken.has(contentId)) {
      throw fieldError(`videos[${index}].contentId`, 'is already in the carousel');
    }
    taken.add(contentId);
    return { id: newContentId(), contentId };
  });
  const order: { id: string }[] = [...present];
  for (const [index, entry] of added.entries()) {
    order.splice(videos[index]?.position ?? order.length, 0, entry);
  }
  await addEntries(tx, organizationId, carousel.content_id, added);
  await setEntryOrder(
    tx,
    organizationId,
    carousel.content_id,
    order.map((entry) => entry.id),
  );
  return findEntries(tx, organizationId, carousel.content_id);
}

/** The ids of videos that may be in a carousel, in the order given. */
async function requireVideos(
  tx: Tx,
  organizationId: OrganizationId,
  videos: readonly VideoReference[],
): Promise<string[]> {
  const ids = videos.map(({ contentId }) => parseContentId(contentId));
  const rows = await findItems(
    tx,
    organizationId,
    ids.filter((id) => id !== null),
  );
  const byId = new Map(rows.map((row) => [row.content_id, row]));
  return ids.map((id, index) => {
    const row = id === null ? undefined : byId.get(id);
    const path = `videos[${index}].contentId`;
    if (row === undefined) throw fieldError(path, 'is not the id of a content item');
    if (row.content_type !== 'video') {
      throw fieldError(path, `must be a video; this item is a ${row.content_type}`);
    }
    if (row.upload_status !== 'ready') {
      throw new ApiError(contentErrors.CONTENT_NOT_READY, {
        message: `${path}: must be ready; this video is ${row.upload_status}`,
        details: [{ path, message: 'must be ready' }],
      });
    }
    return row.content_id;
  });
}

/** @throws {ApiError} NOT_FOUND, VALIDATION_ERROR, CONFLICT */
export async function orderVideos(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
  entryIds: readonly string[],
): Promise<CarouselEntry[]> {
  const carousel = await lockCarousel(tx, organizationId, id, 'video_carousel');
  const present = await findEntries(tx, organizationId, carousel.content_id);
  const order = requirePermutation('entryIds', entryIds, present);
  await setEntryOrder(tx, organizationId, carousel.content_id, order);
  return findEntries(tx, organizationId, carousel.content_id);
}

/** @throws {ApiError} NOT_FOUND, CONFLICT */
export async function removeVideo(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
  entryId: string,
): Promise<void> {
  const carousel = await lockCarousel(tx, organizationId, id, 'video_carousel');
  const entry = parseContentId(entryId);
  const isRemoved =
    entry !== null && (await removeEntry(tx, organizationId, carousel.content_id, entry));
  if (!isRemoved) throw new ApiError('NOT_FOUND', { message: 'There is no entry with this id.' });
}

export type NewImage = { imageId: string; folder: string; altText: string | null };

/**
 * Checks that an image carousel has room for one more image before its bytes are read; `addImage`
 * checks again under a lock.
 * @throws {ApiError} NOT_FOUND, CONFLICT, LIMIT_EXCEEDED
 */
export async function requireImageRoom(
  db: Db,
  organizationId: OrganizationId,
  id: string,
): Promise<ItemRow> {
  return withRoom(requireType(await getItem(db, organizationId, id), 'carousel'));
}

function withRoom<Row extends ItemRow>(carousel: Row): Row {
  if (carousel.assets.length >= maxEntries) throw tooMany('images');
  return carousel;
}

/**
 * Appends a stored image.
 * @throws {ApiError} NOT_FOUND, LIMIT_EXCEEDED, CONFLICT
 */
export async function addImage(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
  { imageId, folder, altText }: NewImage,
): Promise<ItemRow> {
  const carousel = withRoom(await lockCarousel(tx, organizationId, id, 'carousel'));
  const { content_id: contentId } = carousel;
  return addAsset(
    tx,
    { organizationId, contentId },
    { assetId: imageId, kind: 'image', folder, metadata: { altText }, state: 'ready' },
  );
}

/** @throws {ApiError} NOT_FOUND, VALIDATION_ERROR, CONFLICT */
export async function orderImages(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
  imageIds: readonly string[],
): Promise<ItemRow> {
  const carousel = await lockCarousel(tx, organizationId, id, 'carousel');
  const order = requirePermutation('imageIds', imageIds, carousel.assets);
  return orderAssets(tx, { organizationId, contentId: carousel.content_id }, order);
}

/** @throws {ApiError} NOT_FOUND, CONFLICT */
export async function removeImage(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
  imageId: string,
): Promise<void> {
  const carousel = await lockCarousel(tx, organizationId, id, 'carousel');
  const owner = { organizationId, contentId: carousel.content_id };
  const assetId = parseContentId(imageId);
  const row = assetId === null ? null : await removeAsset(tx, owner, { assetId, kind: 'image' });
  if (row === null) throw new ApiError('NOT_FOUND', { message: 'There is no image with this id.' });
}

async function lockCarousel(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
  type: ContentType,
): Promise<LockedItem> {
  return requireType(await lockItemOrThrow(tx, organizationId, id), type);
}

function requireType<Row extends ItemRow>(row: Row, type: ContentType): Row {
  if (row.content_type === type) return row;
  throw new ApiError('CONFLICT', {
    message: `This item is a ${row.content_type}, not a ${type}.`,
  });
}

function requirePermutation(
  path: string,
  given: readonly string[],
  present: readonly { id: string }[],
): string[] {
  const order = given.map((id) => id.toLowerCase());
  const wanted = new Set(present.map(({ id }) => id));
  const isPermutation =
    order.length === wanted.size &&
    new Set(order).size === order.length &&
    order.every((id) => wanted.has(id));
  if (!isPermutation) {
    throw fieldError(path, `must contain each of the ${wanted.size} current ids exactly once`);
  }
  return order;
}

function tooMany(path: string): ApiError {
  const details: ErrorDetail[] = [{ path, message: `must be at most ${maxEntries}` }];
  return new ApiError('LIMIT_EXCEEDED', {
    message: `A carousel can have at most ${maxEntries} ${path}.`,
    details,
  });
}
