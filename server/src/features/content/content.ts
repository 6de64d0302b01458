/**
 * Content items: their metadata, their publication, their archiving.
 *
 * uploadStatus: pending → processing → ready | error (moved by processing; to error by an upload
 *   that expires); error → pending by the retry, when the original bytes are there.
 * publishStatus: unpublished ⇄ published by `patchItem`; published needs ready.
 * archived: set by `archiveItem`, cleared by `restoreItem` within its time. An archived item is
 *   unknown to everything else, so its id answers NOT_FOUND.
 */
import type { Db, Tx } from '../../platform/database/database.ts';
import { brokenConstraint } from '../../platform/database/database-errors.ts';
import { ApiError } from '../../platform/http/errors.ts';
import {
  newContentId,
  parseContentId,
  randomName,
  type ContentId,
  type OrganizationId,
} from '../../platform/ids.ts';
import { matchesEntityTag, type ItemRow } from './item.ts';
import {
  checkSchedule,
  mergeCustomMetadata,
  toColumns,
  type Metadata,
  type Patch,
} from './metadata.ts';
import {
  archiveItem,
  findByExternalId,
  findItem,
  insertItem,
  lockItem,
  restoreItem,
  updateItem,
  type ItemChange,
  type LockedItem,
} from './queries.ts';

export { entityTag, itemColumns, presentItem } from './item.ts';
export type { Item, ItemRow, MediaUrls } from './item.ts';
export { mergeCustomMetadata, normalizeTags } from './metadata.ts';
export type { Metadata, Patch } from './metadata.ts';
export { findItems, touched } from './queries.ts';
export {
  ContentItem,
  ContentPatch,
  contentTypes,
  NewContentMetadata,
  publishStatuses,
  visibilities,
} from './schemas.ts';

/** Bytes of the random name that begins every public media path of an item. */
const playbackIdBytes = 16;

/**
 * Makes a video item that waits for its bytes.
 *
 * @throws ApiError VALIDATION_ERROR, or CONFLICT when the externalId is taken
 */
export async function createVideoItem(
  tx: Tx,
  organizationId: OrganizationId,
  metadata: Metadata,
): Promise<ItemRow> {
  const { customMetadata, ...fields } = metadata;
  const columns = toColumns(fields);
  checkSchedule(columns.publish_at ?? null, columns.expires_at ?? null);
  if (columns.external_id) await refuseTakenExternalId(tx, organizationId, columns.external_id);
  return insertItem(tx, {
    organizationId,
    contentId: newContentId(),
    contentType: 'video',
    playbackId: randomName(playbackIdBytes),
    columns: { ...columns, title: metadata.title },
    customMetadata: mergeCustomMetadata({}, customMetadata ?? {}),
  }).catch(translateTakenExternalId);
}

/** @throws ApiError NOT_FOUND, for a malformed or foreign id as well */
export async function getItem(
  db: Db,
  organizationId: OrganizationId,
  id: string,
): Promise<ItemRow> {
  const row = await findItem(db, organizationId, requireId(id));
  if (row === null) throw noSuchItem();
  return row;
}

export type PatchOptions = { ifMatch: string | undefined };

/** @throws ApiError NOT_FOUND, PRECONDITION_FAILED, VALIDATION_ERROR, CONTENT_NOT_READY, CONFLICT */
export async function patchItem(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
  patch: Patch,
  { ifMatch }: PatchOptions,
): Promise<ItemRow> {
  const row = await lockOrThrow(tx, organizationId, id);
  checkPrecondition(row, ifMatch);
  const change = toChange(row, patch);
  const { external_id: externalId } = change;
  if (externalId && externalId !== row.external_id) {
    await refuseTakenExternalId(tx, organizationId, externalId);
  }
  return updateItem(tx, organizationId, row.content_id as ContentId, change).catch(
    translateTakenExternalId,
  );
}

function toChange(row: LockedItem, patch: Patch): ItemChange {
  const { customMetadata, publishStatus, ...fields } = patch;
  const columns = toColumns(fields);
  const publishAt = columns.publish_at === undefined ? row.publish_at : columns.publish_at;
  const expiresAt = columns.expires_at === undefined ? row.expires_at : columns.expires_at;
  checkSchedule(publishAt, expiresAt);
  if (publishStatus === 'published' && row.upload_status !== 'ready') {
    throw new ApiError('CONTENT_NOT_READY', {
      message: `Only a ready item can be published; this one is ${row.upload_status}.`,
    });
  }
  return {
    ...columns,
    ...(publishStatus !== undefined && { publish_status: publishStatus }),
    ...(customMetadata !== undefined && {
      custom_metadata: JSON.stringify(mergeCustomMetadata(row.custom_metadata, customMetadata)),
    }),
  };
}

/** @throws ApiError NOT_FOUND, also for an item that is archived already; PRECONDITION_FAILED */
export async function archive(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
  { ifMatch }: PatchOptions,
): Promise<void> {
  const row = await lockOrThrow(tx, organizationId, id);
  checkPrecondition(row, ifMatch);
  await archiveItem(tx, organizationId, row.content_id as ContentId);
}

/** @throws ApiError NOT_FOUND when the item is not archived, or its time is over */
export async function restore(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
  retentionMs: number,
): Promise<ItemRow> {
  const row = await restoreItem(tx, organizationId, requireId(id), retentionMs);
  if (row === null) throw noSuchItem();
  return row;
}

/** Locks an item whose failed processing may run again. @throws ApiError NOT_FOUND, CONFLICT */
export async function lockForRetry(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
): Promise<LockedItem> {
  const row = await lockOrThrow(tx, organizationId, id);
  if (row.upload_status !== 'error') {
    throw new ApiError('CONFLICT', {
      message: `Only failed processing can be retried; this item is ${row.upload_status}.`,
    });
  }
  if (row.source_key === null) {
    throw new ApiError('CONFLICT', {
      message: 'The original bytes never arrived, so there is nothing to retry. Upload again.',
    });
  }
  return row;
}

async function lockOrThrow(
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

export const noSuchItemMessage = 'There is no content item with this id.';

/** What every id answers that names no item, or none that the caller may know of. */
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
  if (taken !== null) throw takenExternalId(`The item ${taken} has this externalId already.`);
}

/** Two requests at the same moment meet at the unique index. */
function translateTakenExternalId(error: unknown): never {
  if (brokenConstraint(error) === 'content_external_id_unique') {
    throw takenExternalId('Another item has this externalId already.');
  }
  throw error;
}

function takenExternalId(message: string): ApiError {
  return new ApiError('CONFLICT', {
    message,
    details: [{ path: 'externalId', message: 'is taken' }],
  });
}
