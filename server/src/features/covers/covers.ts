/** Covers: chosen thumbnails of videos. Their states are described in `content/cover.ts`. */
import type { Tx } from '../../platform/database/database.ts';
import type { OrganizationId } from '../../platform/values/ids.ts';
import { addAsset, removeAsset, type AssetOwner } from '../assets/assets.ts';
import { lockItemOrThrow, type ItemRow } from '../content/content.ts';
import { coverOf, requirePicture, setThumbnailTime } from '../content/item-media/item-media.ts';
import type { ThumbnailFacts } from '../media/media.ts';

export type NewCover = { assetId: string; folder: string; facts: ThumbnailFacts };

/** Replaces the cover of an item locked by the transaction. */
export async function replaceCover(
  tx: Tx,
  owner: AssetOwner,
  row: ItemRow,
  { assetId, facts, folder }: NewCover,
): Promise<ItemRow> {
  await dropCover(tx, owner, row);
  return addAsset(tx, owner, { assetId, kind: 'cover', folder, metadata: facts, state: 'ready' });
}

/** Removes the cover and its files, if there is one. */
export async function dropCover(tx: Tx, owner: AssetOwner, row: ItemRow): Promise<void> {
  const cover = coverOf(row);
  if (cover !== null) await removeAsset(tx, owner, { assetId: cover.id, kind: 'cover' });
}

/**
 * Sets an uploaded image as the cover.
 * @throws {ApiError} NOT_FOUND, VALIDATION_ERROR, CONTENT_NOT_READY
 */
export async function setUploadedCover(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
  cover: NewCover,
): Promise<ItemRow> {
  const row = await lockItemOrThrow(tx, organizationId, id);
  requirePicture(row, 'file');
  const owner = { organizationId, contentId: row.content_id };
  await replaceCover(tx, owner, row, cover);
  return setThumbnailTime(tx, organizationId, row.content_id, null);
}

/**
 * Returns to the first picture, effective immediately.
 * @throws {ApiError} NOT_FOUND
 */
export async function removeCover(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
): Promise<ItemRow> {
  const row = await lockItemOrThrow(tx, organizationId, id);
  await dropCover(tx, { organizationId, contentId: row.content_id }, row);
  return setThumbnailTime(tx, organizationId, row.content_id, null);
}
