/**
 * Imports: items whose bytes the service fetches itself.
 *
 *   (request) → pending with an `import_source` → source stored, processing enqueued
 *                                              └→ error, with content.errored → pending by a retry
 *
 * 1. The item, its source and the job are one transaction, so an accepted import survives a kill.
 * 2. An externalId has one item: a repeat answers the first one, whoever asks at the same moment.
 * 3. Every address that is connected to has passed the egress guard, redirects included.
 */
import { Type, type Static } from 'typebox';
import { inSavepoint, type Db, type Tx } from '../../platform/database/database.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import { EgressError } from '../../platform/egress/egress-errors.ts';
import { ApiError } from '../../platform/http/errors.ts';
import { refuseBadText } from '../../platform/http/text-rules.ts';
import { validationError } from '../../platform/http/validation-error.ts';
import { compileBody } from '../../platform/http/validation.ts';
import type { OrganizationId } from '../../platform/ids.ts';
import { defineJob, doublingDelay } from '../../platform/queue/job-definition.ts';
import { enqueue } from '../../platform/queue/queue.ts';
import {
  createVideoItem,
  failWithoutSource,
  findItemByExternalId,
  type ItemRow,
} from '../content/content.ts';
import { recordEvent } from '../webhooks/webhooks.ts';
import { findSourceUrl, insertSource } from './queries.ts';
import { ImportItem } from './schemas.ts';

export const schemes = ['https:', 'http:'] as const;

/** Fetches the bytes of an item; the handler is in `jobs.ts`. */
export const importMedia = defineJob({
  name: 'import-media',
  payload: Type.Object({ contentId: Type.String() }),
  timeoutMs: 2 * 3_600_000,
  retry: { maxAttempts: 4, delayMs: doublingDelay(2_000, 60_000) },
  concurrency: 64,
  sharesPlaces: true,
  writesFilesOf: 'contentId',
  onExhausted: (tx, { contentId }, { organizationId, reason }) =>
    failImport(tx, organizationId, contentId, {
      code: 'SOURCE_UNREACHABLE',
      message: reason.startsWith(sourcePrefix)
        ? reason
        : `${sourcePrefix} could not be read, however often it was tried.`,
    }),
});

/** The messages of failed imports begin with this; they name the source only as it was given. */
export const sourcePrefix = 'The source';

/** Fetches the bytes of a failed import again. @returns false when the item is not an import */
export async function retryImport(
  tx: Tx,
  organizationId: string,
  contentId: string,
): Promise<boolean> {
  if ((await findSourceUrl(tx, organizationId, contentId)) === null) return false;
  await enqueue(tx, importMedia, { contentId }, { organizationId });
  return true;
}

/** Gives an import up: pending → error, with its event. Its source is kept for a retry. */
export async function failImport(
  tx: Tx,
  organizationId: string,
  contentId: string,
  error: { code: string; message: string },
): Promise<void> {
  const failed = await failWithoutSource(tx, [{ organizationId, contentId }], error);
  for (const { title } of failed) {
    const data = { contentId, title, status: 'error', error } as const;
    await recordEvent(tx, organizationId, 'content.errored', data);
  }
}

type Item = Static<typeof ImportItem>;
export type CheckedItem = { item: Item } | { error: { code: string; message: string } };

const itemProblems = compileBody(ImportItem);
const checkedAtOnce = 10;

/** Checks the items of a request one by one: their values, and where their URLs lead now. */
export async function checkItems(
  egress: Egress,
  items: readonly Record<string, unknown>[],
): Promise<CheckedItem[]> {
  const checked: CheckedItem[] = [];
  for (let start = 0; start < items.length; start += checkedAtOnce) {
    const some = items.slice(start, start + checkedAtOnce);
    checked.push(...(await Promise.all(some.map((item) => checkItem(egress, item)))));
  }
  return checked;
}

async function checkItem(egress: Egress, raw: Record<string, unknown>): Promise<CheckedItem> {
  const problems = itemProblems(raw);
  if (problems !== null) return refusal(validationError('body', problems).message);
  const item = raw as Item;
  try {
    refuseBadText(JSON.stringify(raw), raw);
    await egress.checkUrl(item.sourceUrl, { schemes });
    return { item };
  } catch (error) {
    if (error instanceof ApiError) return refusal(error.message);
    if (!(error instanceof EgressError)) throw error;
    // A name that cannot be resolved at this moment is tried again by the job.
    if (error.failure === 'dns_error' || error.failure === 'timeout') return { item };
    return refusal(`sourceUrl: ${error.message}`);
  }
}

function refusal(message: string): CheckedItem {
  return { error: { code: 'VALIDATION_ERROR', message } };
}

export type Imported =
  | { status: 'created' | 'existing'; row: ItemRow }
  | { status: 'failed'; error: { code: string; message: string } };

/** Makes the items of a request, each with its source and its job. */
export async function createImports(
  tx: Tx,
  organizationId: OrganizationId,
  items: readonly CheckedItem[],
): Promise<Imported[]> {
  const imported: Imported[] = [];
  for (const item of items) {
    imported.push(
      'error' in item
        ? { status: 'failed', error: item.error }
        : await createImport(tx, organizationId, item.item),
    );
  }
  return imported;
}

async function createImport(
  tx: Tx,
  organizationId: OrganizationId,
  { sourceUrl, ...metadata }: Item,
): Promise<Imported> {
  const existing = await findExisting(tx, organizationId, metadata.externalId);
  if (existing !== null) return { status: 'existing', row: existing };
  try {
    const row = await inSavepoint(tx, () => createVideoItem(tx, organizationId, metadata));
    await insertSource(tx, organizationId, row.content_id, sourceUrl);
    await enqueue(tx, importMedia, { contentId: row.content_id }, { organizationId });
    return { status: 'created', row };
  } catch (error) {
    // Somebody else has made the item between the look and the insertion.
    const late = await findExisting(tx, organizationId, metadata.externalId);
    if (late !== null) return { status: 'existing', row: late };
    if (!(error instanceof ApiError)) throw error;
    return { status: 'failed', error: { code: error.code, message: error.message } };
  }
}

async function findExisting(
  db: Db,
  organizationId: OrganizationId,
  externalId: string | null | undefined,
): Promise<ItemRow | null> {
  return externalId ? findItemByExternalId(db, organizationId, externalId) : null;
}
