/**
 * Bulk operations on up to a hundred items: one transaction, one statement. Results are in request
 * order; a repeated id is processed and reported once, at its first position.
 *
 * Larger sets are bulk jobs; see `bulk-job.ts`.
 */
import type { Static } from 'typebox';
import type { Tx } from '../../platform/database/database.ts';
import { ApiError, fieldError } from '../../platform/http/errors.ts';
import { refuseBadText } from '../../platform/http/text-rules.ts';
import { validationError } from '../../platform/http/validation-error.ts';
import { compileBody } from '../../platform/http/validation.ts';
import { parseContentId, type OrganizationId } from '../../platform/values/ids.ts';
import { type Patch } from '../content/content.ts';
import {
  toItemChange,
  type ItemChange,
  type RequestedItem,
} from '../content/item-sets/item-sets.ts';
import { askFor, AllowanceRefusal, type Allowance } from './allowance.ts';
import {
  changeItems,
  deleteItems,
  type BatchOptions,
  type BatchOutcome,
  type ItemResult,
} from './change-queries.ts';
import {
  ItemPatch,
  type BulkDelete,
  type BulkTag,
  type BulkUpdate,
  type BulkUpdateItem,
  type BulkVisibility,
} from './schemas.ts';

/** The results of a bulk operation, and the organization's remaining allowance. */
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

/** @throws ApiError RATE_LIMITED (an `AllowanceRefusal`) */
export async function updateItems(
  tx: Tx,
  organizationId: OrganizationId,
  { items, continueOnError = false }: Static<typeof BulkUpdate>,
) {
  const requested = takeEachOnce(items).map((item) => {
    const read = readItemChange(item);
    return 'problem' in read ? request(item.id, {}, read.problem) : request(item.id, read.change);
  });
  const options = batchOptions(requested, continueOnError);
  return present(await changeItems(tx, organizationId, requested, options), ({ id }) => ({
    id,
    status: 'updated',
  }));
}

/**
 * Deletes permanently; the feature `purges` removes the files.
 *
 * @throws ApiError RATE_LIMITED (an `AllowanceRefusal`)
 */
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

/** @throws ApiError VALIDATION_ERROR, RATE_LIMITED (an `AllowanceRefusal`) */
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

/** @throws ApiError RATE_LIMITED (an `AllowanceRefusal`) */
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

const patchProblems = compileBody(ItemPatch);

/** Parses the change to an item. Returns the change, or the problem in one line. */
function readItemChange(
  item: Static<typeof BulkUpdateItem>,
): { change: ItemChange } | { problem: string } {
  const { id, ...fields } = item;
  refuseBadText(JSON.stringify(id), { id });
  const problems = patchProblems(fields);
  if (problems !== null) return { problem: validationError('body', problems).message };
  try {
    refuseBadText(JSON.stringify(fields), fields);
    return { change: toItemChange(fields as Patch) };
  } catch (error) {
    if (error instanceof ApiError) return { problem: error.message };
    throw error;
  }
}

function requestAll(ids: readonly string[], change: ItemChange): RequestedItem[] {
  return takeEachOnce(ids.map((id) => ({ id }))).map(({ id }) => request(id, change));
}

function request(id: string, change: ItemChange, problem: string | null = null): RequestedItem {
  const contentId = parseContentId(id);
  return { id: contentId ?? id, contentId, change, problem };
}

function takeEachOnce<T extends { id: string }>(items: readonly T[]): T[] {
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
