/**
 * Imports: items whose bytes the service fetches itself.
 *
 *   (request) → pending with an `import_source` → source stored, processing enqueued
 *                                              └→ error, with content.errored → pending by a retry
 *
 * 1. The item, its source and the job are written in one transaction, so an accepted import
 *    survives a crash.
 * 2. An externalId identifies one item: a repeated or concurrent request returns the first one.
 * 3. Every address is checked by the egress guard before connecting, including redirects.
 */
import { Type } from 'typebox';
import { inSavepoint, type Db, type Tx } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/http/errors.ts';
import { newTypeId, type ImportId, type OrganizationId } from '../../platform/values/ids.ts';
import { defineJob, doublingDelay } from '../../platform/queue/job-definition.ts';
import { enqueue } from '../../platform/queue/queue.ts';
import {
  createCarousel,
  createVideoItem,
  findItemByExternalId,
  type ItemRow,
} from '../content/content.ts';
import { failWithoutSource } from '../content/item-media/item-media.ts';
import { recordEvent } from '../webhooks/webhooks.ts';
import type { CheckedItem, ImportedItem } from './check-items.ts';
import { findSource, insertImport, insertSource } from './queries.ts';
import { sourcePrefix } from './source-body.ts';

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
      message: reason.includes(sourcePrefix)
        ? reason
        : `${sourcePrefix} could not be read after several attempts.`,
    }),
});

/** Fetches the bytes of a failed import again. Returns false if the item is not an import. */
export async function retryImport(
  tx: Tx,
  organizationId: string,
  contentId: string,
): Promise<boolean> {
  if ((await findSource(tx, organizationId, contentId)) === null) return false;
  await enqueue(tx, importMedia, { contentId }, { organizationId });
  return true;
}

/** Fails an import: pending → error, with its event. The source is kept for a retry. */
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

export type Imported =
  | { status: 'created' | 'existing'; row: ItemRow }
  | { status: 'failed'; error: { code: string; message: string } };

/** Creates the items of a request, each with its source and job, and their import. */
export async function createImports(
  tx: Tx,
  organizationId: OrganizationId,
  items: readonly CheckedItem[],
): Promise<{ imported: Imported[]; importId: ImportId | null }> {
  const imported: Imported[] = [];
  for (const item of items) {
    imported.push(
      'error' in item
        ? { status: 'failed', error: item.error }
        : await createImport(tx, organizationId, item.item),
    );
  }
  const contentIds = imported.flatMap((one) =>
    one.status === 'created' ? [one.row.content_id] : [],
  );
  if (contentIds.length === 0) return { imported, importId: null };
  const importId = newTypeId('imp');
  await insertImport(tx, organizationId, importId, contentIds);
  return { imported, importId };
}

async function createImport(
  tx: Tx,
  organizationId: OrganizationId,
  { source, metadata }: ImportedItem,
): Promise<Imported> {
  const existing = await findExisting(tx, organizationId, metadata.externalId);
  if (existing !== null) return { status: 'existing', row: existing };
  try {
    const row = await inSavepoint(tx, () =>
      'url' in source
        ? createVideoItem(tx, organizationId, metadata)
        : createCarousel(tx, organizationId, { contentType: 'carousel', ...metadata }, true),
    );
    await insertSource(tx, organizationId, row.content_id, source);
    await enqueue(tx, importMedia, { contentId: row.content_id }, { organizationId });
    return { status: 'created', row };
  } catch (error) {
    // Another request created the item between the check and the insert.
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
