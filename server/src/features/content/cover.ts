/**
 * The cover: a thumbnail that somebody chose instead of the first picture that is not black.
 *
 *   none ──thumbnailTime──▶ requested (`thumbnail_time`) ──job──▶ made (asset `cover`)
 *   any  ──upload──▶ made, without a time          any ──thumbnailTime: null, removal──▶ none
 *
 * Until the new picture is there, the one before is shown.
 */
import { Type } from 'typebox';
import type { Tx } from '../../platform/database/database.ts';
import { ApiError, fieldError } from '../../platform/http/errors.ts';
import type { OrganizationId } from '../../platform/ids.ts';
import { defineJob, doublingDelay } from '../../platform/queue/job-definition.ts';
import { enqueue } from '../../platform/queue/queue.ts';
import { contentErrors } from './errors.ts';
import { itemColumns, type ItemRow } from './item.ts';
import type { StoredAsset } from './tables.ts';
import { touched } from './touched.ts';

/** Makes the cover that was asked for, or removes the one before; the handler is in `covers`. */
export const makeCover = defineJob({
  name: 'make-cover',
  payload: Type.Object({
    contentId: Type.String(),
    /** The moment, in seconds; null removes `replaced`. */
    seconds: Type.Union([Type.Number(), Type.Null()]),
    /** The cover at the time of the request. */
    replaced: Type.Union([Type.String(), Type.Null()]),
  }),
  timeoutMs: 10 * 60_000,
  retry: { maxAttempts: 3, delayMs: doublingDelay(2_000, 60_000) },
  concurrency: 1,
  writesFilesOf: 'contentId',
});

/** The chosen thumbnail of an item; null where nobody chose one, or it is not made yet. */
export function coverOf({ assets }: Pick<ItemRow, 'assets'>): StoredAsset | null {
  return assets.find(({ kind, state }) => kind === 'cover' && state === 'ready') ?? null;
}

/**
 * Asks for the picture at this moment as the cover of an item that the transaction has locked; null
 * goes back to the first picture.
 *
 * @throws ApiError VALIDATION_ERROR for what has no picture at that time, CONTENT_NOT_READY
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

/** Items with a picture of their own may have a cover. @throws ApiError VALIDATION_ERROR, CONTENT_NOT_READY */
export function requirePicture(row: ItemRow, path: string): void {
  if (row.content_type !== 'video' && row.content_type !== 'live_stream') {
    throw fieldError(path, 'is for videos only');
  }
  if (row.upload_status !== 'ready') throw new ApiError(contentErrors.CONTENT_NOT_READY);
}

function checkTime(row: ItemRow, seconds: number): void {
  requirePicture(row, 'thumbnailTime');
  if (row.width === null) throw fieldError('thumbnailTime', 'is for videos with a picture');
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
