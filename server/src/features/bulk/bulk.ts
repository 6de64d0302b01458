/**
 * Bulk operations on up to a hundred items: one transaction, one statement. Results come in the
 * order of the request; a repeated id is processed and reported once, by its first place.
 *
 * Larger sets are bulk jobs, see `bulk-job.ts`.
 */
import type { Static } from 'typebox';
import type { Tx } from '../../platform/database/database.ts';
import { ApiError, fieldError } from '../../platform/http/errors.ts';
import { parseContentId, type OrganizationId } from '../../platform/ids.ts';
import { askFor, AllowanceRefusal, type Allowance } from './allowance.ts';
import {
  changeItems,
  deleteItems,
  type BatchOptions,
  type BatchOutcome,
  type ItemResult,
  type RequestedItem,
} from './change-queries.ts';
import { readItemChange, toItemChange, type ItemChange } from './item-change.ts';
import {
  mostItems,
  type BulkDelete,
  type BulkTag,
  type BulkUpdate,
  type BulkVisibility,
} from './schemas.ts';

/** What a bulk operation answers, and what is left of the organization's allowance. */
export type BulkOutcome<Successful> = {
  allowance: Allowance;
  data: {
    successful: Successful[];
    failed: { id: string; error: NonNullable<ItemResult['failure']> }[];
    totalProcessed: number;
    totalSuccessful: number;
    totalFailed: number;
  };
};

/** @throws ApiError LIMIT_EXCEEDED, RATE_LIMITED (an `AllowanceRefusal`) */
export async function updateItems(
  tx: Tx,
  organizationId: OrganizationId,
  { items, continueOnError = false }: Static<typeof BulkUpdate>,
) {
  const requested = takeEachOnce(items, 'items').map((item) => {
    const read = readItemChange(item);
    return 'problem' in read ? request(item.id, {}, read.problem) : request(item.id, read.change);
  });
  const options = batchOptions(requested, continueOnError);
  return present(await changeItems(tx, organizationId, requested, options), ({ id }) => ({
    id,
    status: 'updated',
  }));
}

/** Deletes for good; the feature `purges` removes the files. @throws ApiError LIMIT_EXCEEDED, RATE_LIMITED (an `AllowanceRefusal`) */
export async function deleteForGood(
  tx: Tx,
  organizationId: OrganizationId,
  { ids, continueOnError = false }: Static<typeof BulkDelete>,
) {
  const requested = requestAll(ids, {});
  const options = batchOptions(requested, continueOnError);
  return present(await deleteItems(tx, organizationId, requested, options), ({ id }) => ({
    id,
    status: 'deleted',
  }));
}

/** @throws ApiError VALIDATION_ERROR, LIMIT_EXCEEDED, RATE_LIMITED (an `AllowanceRefusal`) */
export async function tagItems(
  tx: Tx,
  organizationId: OrganizationId,
  { ids, addTags = [], removeTags = [] }: Static<typeof BulkTag>,
) {
  if (addTags.length + removeTags.length === 0) {
    throw fieldError('addTags', 'or removeTags must name at least one tag');
  }
  const requested = requestAll(ids, toItemChange({ addTags, removeTags }));
  const options = batchOptions(requested, true);
  return present(await changeItems(tx, organizationId, requested, options), ({ id, tags }) => ({
    id,
    tags,
  }));
}

/** @throws ApiError LIMIT_EXCEEDED, RATE_LIMITED (an `AllowanceRefusal`) */
export async function showItems(
  tx: Tx,
  organizationId: OrganizationId,
  { ids, visibility }: Static<typeof BulkVisibility>,
) {
  const requested = requestAll(ids, { visibility });
  const options = batchOptions(requested, true);
  const outcome = await changeItems(tx, organizationId, requested, options);
  return present(outcome, ({ id, visibility: shown }) => ({ id, visibility: shown }));
}

function requestAll(ids: readonly string[], change: ItemChange): RequestedItem[] {
  return takeEachOnce(
    ids.map((id) => ({ id })),
    'ids',
  ).map(({ id }) => request(id, change));
}

function request(id: string, change: ItemChange, problem: string | null = null): RequestedItem {
  const contentId = parseContentId(id);
  return { id: contentId ?? id, contentId, change, problem };
}

function takeEachOnce<T extends { id: string }>(items: readonly T[], path: string): T[] {
  if (items.length > mostItems) {
    throw new ApiError('LIMIT_EXCEEDED', {
      message: `${path}: must be at most ${mostItems}. Use a bulk job for more.`,
      details: [{ path, message: `must be at most ${mostItems}` }],
    });
  }
  const first = new Map<string, T>();
  for (const item of items) {
    const id = parseContentId(item.id) ?? item.id;
    if (!first.has(id)) first.set(id, item);
  }
  return [...first.values()];
}

function batchOptions(
  { length }: readonly RequestedItem[],
  continueOnError: boolean,
): BatchOptions {
  return { continueOnError, allowance: askFor(length) };
}

function present<Successful>(
  { allowance, results }: BatchOutcome,
  show: (result: ItemResult) => Successful,
): BulkOutcome<Successful> {
  if (!allowance.isAccepted) throw new AllowanceRefusal(allowance);
  const successful = results.filter(({ failure }) => failure === null).map(show);
  const failed = results.flatMap(({ id, failure }) =>
    failure === null ? [] : [{ id, error: failure }],
  );
  const totals = {
    totalProcessed: results.length,
    totalSuccessful: successful.length,
    totalFailed: failed.length,
  };
  return { allowance, data: { successful, failed, ...totals } };
}
