/**
 * The cover: a thumbnail that was chosen instead of the first picture that is not black.
 *
 *   none ──thumbnailTime──▶ requested (`thumbnail_time`) ──job──▶ made (asset `cover`)
 *   any  ──upload──▶ made, without a time          any ──thumbnailTime: null, removal──▶ none
 *
 * Until the new picture exists, the previous one is shown.
 */
import { Type } from 'typebox';
import type { Tx } from '../../../platform/database/database.ts';
import { ApiError, fieldError } from '../../../platform/http/errors.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import { defineJob, doublingDelay } from '../../../platform/queue/job-definition.ts';
import { enqueue } from '../../../platform/queue/queue.ts';
import { contentTraits } from '../content-types.ts';
import { contentErrors } from '../errors.ts';
import { itemColumns, type ItemRow } from '../item.ts';
import type { StoredAsset } from '../tables.ts';
import { touched } from '../touched.ts';

/** Creates the requested cover, or removes the previous one; the handler is in `covers`. */
export const makeCover = defineJob({
  name: 'make-cover',
  payload: Type.Object({
    contentId: Type.String(),
    /** Time in seconds; null removes `replaced`. */
    seconds: Type.Union([Type.Number(), Type.Null()]),
    /** The cover at the time of the request. */
    replaced: Type.Union([Type.String(), Type.Null()]),
  }),
  timeoutMs: 10 * 60_000,
  retry: { maxAttempts: 3, delayMs: doublingDelay(2_000, 60_000) },
  concurrency: 1,
  writesFilesOf: 'contentId',
});

/** The chosen thumbnail of an item, or null if there is none or it is not ready. */
export function coverOf({ assets }: Pick<ItemRow, 'assets'>): StoredAsset | null {
  return assets.find(({ kind, state }) => kind === 'cover' && state === 'ready') ?? null;
}

/**
 * Requests the picture at this time as the cover of an item locked by the transaction; null returns
 * to the first picture.
 * @throws {ApiError} VALIDATION_ERROR if there is no picture at that time, CONTENT_NOT_READY
 */
export async function requestCover(
  tx: Tx,
  organizationId: OrganizationId,
  row: ItemRow,
  seconds: number | null,
): Promise<ItemRow> {
  if (seconds !== null) checkTime(row, seconds);
  const contentId = row.content_id;
  const replaced = coverOf(row)?.id ?? null;
  await enqueue(tx, makeCover, { contentId, seconds, replaced }, { organizationId });
  return setThumbnailTime(tx, organizationId, contentId, seconds);
}

/**
 * Only items with a picture of their own can have a cover.
 * @throws {ApiError} VALIDATION_ERROR, CONTENT_NOT_READY
 */
export function requirePicture(row: ItemRow, path: string): void {
  if (!contentTraits[row.content_type].hasOwnStream) {
    throw fieldError(path, 'is allowed only for videos');
  }
  if (row.upload_status !== 'ready') throw new ApiError(contentErrors.CONTENT_NOT_READY);
}

function checkTime(row: ItemRow, seconds: number): void {
  requirePicture(row, 'thumbnailTime');
  if (row.width === null) throw fieldError('thumbnailTime', 'requires a video with a picture');
  const duration = row.duration_seconds ?? 0;
  if (seconds > duration) {
    throw fieldError('thumbnailTime', `must be at most the duration, ${duration} seconds`);
  }
}

export async function setThumbnailTime(
  tx: Tx,
  organizationId: string,
  contentId: string,
  seconds: number | null,
): Promise<ItemRow> {
  return tx
    .updateTable('content')
    .set({ thumbnail_time: seconds, ...touched() })
    .where('organization_id', '=', organizationId)
    .where('content_id', '=', contentId)
    .returning(itemColumns)
    .executeTakeFirstOrThrow();
}
