/**
 * Content items: metadata, publication, archiving. This feature owns the table. Other features
 * access single items through this file, their media through `item-media/item-media.ts`, many items
 * at once through `item-sets/item-sets.ts`, and the items of the feed through
 * `feed-items/feed-items.ts`.
 *
 * An archived item is invisible to clients: its id returns NOT_FOUND.
 */
import type { Db, Tx } from '../../platform/database/database.ts';
import { brokenConstraint } from '../../platform/database/database-errors.ts';
import type { ContentType } from './content-types.ts';
import { ApiError, fieldError } from '../../platform/http/errors.ts';
import {
  newContentId,
  parseContentId,
  randomName,
  type ContentId,
  type OrganizationId,
} from '../../platform/values/ids.ts';
import { noSuchItemMessage } from './item-sets/change-parts.ts';
import { matchesEntityTag, type ItemRow } from './item.ts';
import { toItemChange } from './item-sets/item-change.ts';
import {
  checkSchedule,
  mergeCustomMetadata,
  toColumns,
  type Metadata,
  type NewCarouselFields,
  type Patch,
} from './metadata.ts';
import {
  changeItem,
  findByExternalId,
  findItem,
  insertItem,
  lockItem,
  type LockedItem,
} from './queries.ts';
import { archiveItem, restoreItem } from './archive.ts';

export { contentErrors } from './errors.ts';
export { contentTraits, contentTypes, type ContentType } from './content-types.ts';
export type { AssetKind, AssetState, StoredAsset, Visibility } from './tables.ts';
export {
  addEntries,
  findEntries,
  removeEntry,
  setEntryOrder,
  type CarouselEntry,
} from './carousel-entries.ts';
export { entityTag, presentCaptions, presentImages, presentItem } from './item.ts';
export type { DerivedMedia, PresentedItem, ItemRow, MediaUrls } from './item.ts';
export type { Metadata, Patch } from './metadata.ts';
export {
  findItemByExternalId,
  findItems,
  isPresent,
  contentItems,
  selectExisting,
  setAssets,
  type LockedItem,
} from './queries.ts';
export {
  ContentItem,
  CaptionTrack,
  DerivedMediaFields,
  CarouselImage,
  ContentPatch,
  NewCarousel,
  NewContentMetadata,
  publishStatuses,
  SearchText,
  uploadStatuses,
  visibilities,
} from './schemas.ts';

/** Hint that this process has changed items; changes by others are found by polling. */
export const contentChanged = 'content-changed';

/** Length of the random name that starts every public media path of an item. */
const playbackIdBytes = 16;

/**
 * Creates a video item that waits for its bytes.
 * @throws {ApiError} VALIDATION_ERROR, or CONFLICT if the externalId is taken
 */
export async function createVideoItem(
  tx: Tx,
  organizationId: OrganizationId,
  metadata: Metadata,
): Promise<ItemRow> {
  return createItem(tx, organizationId, 'video', metadata);
}

/**
 * Creates the item of a live stream, pending until the stream begins.
 * @throws {ApiError} VALIDATION_ERROR, CONFLICT
 */
export async function createLiveItem(
  tx: Tx,
  organizationId: OrganizationId,
  metadata: Metadata,
): Promise<ItemRow> {
  return createItem(tx, organizationId, 'live_stream', metadata);
}

/**
 * Creates a carousel, which is ready unless it waits for images.
 * @throws {ApiError} VALIDATION_ERROR, CONFLICT
 */
export async function createCarousel(
  tx: Tx,
  organizationId: OrganizationId,
  { contentType, ...fields }: NewCarouselFields,
  isWaiting = false,
): Promise<ItemRow> {
  if (contentType !== 'carousel' && fields.autoScrollInterval != null) {
    throw fieldError('autoScrollInterval', 'is allowed only for image carousels');
  }
  return createItem(tx, organizationId, contentType, fields, isWaiting);
}

async function createItem(
  tx: Tx,
  organizationId: OrganizationId,
  contentType: ContentType,
  metadata: Metadata & { autoScrollInterval?: number | null },
  isWaiting = false,
): Promise<ItemRow> {
  const { customMetadata, ...fields } = metadata;
  const columns = toColumns(fields);
  checkSchedule(columns.publish_at ?? null, columns.expires_at ?? null);
  if (columns.external_id) await refuseTakenExternalId(tx, organizationId, columns.external_id);
  return insertItem(tx, {
    organizationId,
    contentId: newContentId(),
    contentType,
    playbackId: randomName(playbackIdBytes),
    columns: { ...columns, title: metadata.title },
    customMetadata: mergeCustomMetadata({}, customMetadata ?? {}),
    isWaiting,
  }).catch(translateTakenExternalId);
}

/** @throws {ApiError} NOT_FOUND, also for a malformed or foreign id */
export async function getItem(
  db: Db,
  organizationId: OrganizationId,
  id: string,
  { withArchived = false } = {},
): Promise<ItemRow> {
  const row = await findItem(db, organizationId, requireId(id), { withArchived });
  if (row === null) throw noSuchItem();
  return row;
}

export type PatchOptions = { ifMatch: string | undefined };

/**
 * Changes one item, as a set-based change of one.
 * @throws {ApiError} NOT_FOUND, PRECONDITION_FAILED, VALIDATION_ERROR, LIMIT_EXCEEDED,
 *   CONTENT_NOT_READY, CONFLICT
 */
export async function patchItem(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
  patch: Patch,
  { ifMatch }: PatchOptions,
): Promise<ItemRow> {
  const row = await lockItemOrThrow(tx, organizationId, id);
  checkPrecondition(row, ifMatch);
  const change = toItemChange(patch);
  if (change.customMetadata !== undefined) {
    change.customMetadata = mergeCustomMetadata(row.custom_metadata, change.customMetadata);
  }
  const { externalId } = change;
  if (externalId && externalId !== row.external_id) {
    await refuseTakenExternalId(tx, organizationId, externalId);
  }
  return changeItem(tx, organizationId, row.content_id, change).catch(translateTakenExternalId);
}

/** @throws {ApiError} NOT_FOUND, also for an archived item; PRECONDITION_FAILED */
export async function archive(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
  { ifMatch }: PatchOptions,
): Promise<void> {
  const row = await lockItemOrThrow(tx, organizationId, id);
  checkPrecondition(row, ifMatch);
  await archiveItem(tx, organizationId, row.content_id as ContentId);
}

/** @throws {ApiError} NOT_FOUND if the item is not archived or can no longer be restored */
export async function restoreItemOrThrow(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
  retentionMs: number,
): Promise<ItemRow> {
  const row = await restoreItem(tx, organizationId, requireId(id), retentionMs);
  if (row === null) throw noSuchItem();
  return row;
}

/**
 * Locks a failed item, whose bytes may never have arrived.
 * @throws {ApiError} NOT_FOUND, CONFLICT
 */
export async function lockForRetry(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
): Promise<LockedItem> {
  const row = await lockItemOrThrow(tx, organizationId, id);
  const isIncomplete = row.upload_status === 'ready' && row.error_code !== null;
  if (row.upload_status !== 'error' && !isIncomplete) {
    throw new ApiError('CONFLICT', {
      message: `Only failed processing can be retried. This item is ${row.upload_status}.`,
    });
  }
  return row;
}

/**
 * Locks an item that is not archived.
 * @throws {ApiError} NOT_FOUND
 */
export async function lockItemOrThrow(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
): Promise<LockedItem> {
  const row = await lockItem(tx, organizationId, requireId(id));
  if (row === null) throw noSuchItem();
  return row;
}

function requireId(id: string): ContentId {
  const contentId = parseContentId(id);
  if (contentId === null) throw noSuchItem();
  return contentId;
}

/** The error for an unknown id, or for an item that the caller may not see. */
export function noSuchItem(): ApiError {
  return new ApiError('NOT_FOUND', { message: noSuchItemMessage });
}

function checkPrecondition(row: ItemRow, ifMatch: string | undefined): void {
  if (ifMatch !== undefined && !matchesEntityTag(ifMatch, row)) {
    throw new ApiError('PRECONDITION_FAILED');
  }
}

async function refuseTakenExternalId(
  tx: Tx,
  organizationId: OrganizationId,
  externalId: string,
): Promise<void> {
  const taken = await findByExternalId(tx, organizationId, externalId);
  if (taken !== null) throw takenExternalId(`The item ${taken} already has this externalId.`);
}

/** Concurrent requests with the same external id conflict at the unique index. */
function translateTakenExternalId(error: unknown): never {
  if (brokenConstraint(error) === 'content_external_id_unique') {
    throw takenExternalId('Another item already has this externalId.');
  }
  throw error;
}

function takenExternalId(message: string): ApiError {
  const details = [{ path: 'externalId', message: 'is already in use' }];
  return new ApiError('CONFLICT', { message, details });
}
