import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/database/database.ts';
import { contentItems } from '../content/content.ts';
import type { ImageSource } from './tables.ts';

export type { ImageSource } from './tables.ts';

/** Source of an item's bytes: one URL for a video, several for a carousel's images. */
export type ImportSource = { url: string } | { images: readonly ImageSource[] };

export async function insertSource(
  tx: Tx,
  organizationId: string,
  contentId: string,
  source: ImportSource,
): Promise<void> {
  await tx
    .insertInto('import_source')
    .values({
      organization_id: organizationId,
      content_id: contentId,
      ...('url' in source ? { source_url: source.url } : { images: JSON.stringify(source.images) }),
    })
    .execute();
}

export type StoredSource = { source: ImportSource; ageMs: number };

/** The source of an item, or null if its bytes have arrived or came another way. */
export async function findSource(
  db: Db,
  organizationId: string,
  contentId: string,
): Promise<StoredSource | null> {
  const row = await db
    .selectFrom('import_source')
    .select(['source_url', 'images'])
    .select(sql<number>`extract(epoch from now() - created_at)::float8 * 1000`.as('age_ms'))
    .where('organization_id', '=', organizationId)
    .where('content_id', '=', contentId)
    .executeTakeFirst();
  if (row === undefined) return null;
  const { source_url: url, images, age_ms: ageMs } = row;
  return { source: url === null ? { images: images ?? [] } : { url }, ageMs };
}

export async function deleteSource(
  tx: Tx,
  organizationId: string,
  contentId: string,
): Promise<void> {
  await tx
    .deleteFrom('import_source')
    .where('organization_id', '=', organizationId)
    .where('content_id', '=', contentId)
    .execute();
}

/** Remembers the items of a request until all are ready or have failed. */
export async function insertImport(
  tx: Tx,
  organizationId: string,
  importId: string,
  contentIds: readonly string[],
): Promise<void> {
  await sql`
    with made as (
      insert into content_import (organization_id, import_id, total_items)
      values (${organizationId}, ${importId}, ${contentIds.length})
    )
    insert into content_import_item (organization_id, import_id, content_id)
    select ${organizationId}, ${importId}, content_id from unnest(${contentIds}::uuid[]) content_id
  `.execute(tx);
}

export type FinishedImport = {
  organizationId: string;
  importId: string;
  totalItems: number;
  createdAt: Date;
  items: {
    contentId: string;
    externalId: string | null;
    status: 'ready' | 'error';
    code: string | null;
    message: string | null;
  }[];
};

/** Locks at most `limit` imports without waiting or processing items. */
export async function listImported(tx: Tx, limit: number): Promise<FinishedImport[]> {
  const { rows } = await sql<FinishedImport>`
    with finished as (
      select organization_id, import_id, total_items, created_at from content_import as one
      where not exists (
        select from content_import_item as entry
        join ${contentItems} content using (organization_id, content_id)
        where (entry.organization_id, entry.import_id) = (one.organization_id, one.import_id)
          and content.upload_status in ('pending', 'processing')
      )
      order by created_at limit ${limit}
      for update of one skip locked
    )
    select organization_id as "organizationId", import_id as "importId",
      total_items as "totalItems", created_at as "createdAt",
      (
        select coalesce(jsonb_agg(jsonb_build_object(
          'contentId', content_id, 'externalId', external_id, 'status', upload_status,
          'code', error_code, 'message', error_message
        ) order by content_id), '[]')
        from content_import_item as entry
        join ${contentItems} content using (organization_id, content_id)
        where (entry.organization_id, entry.import_id)
          = (finished.organization_id, finished.import_id)
      ) as items
    from finished
  `.execute(tx);
  return rows;
}

export async function removeFinished(
  tx: Tx,
  finished: readonly Pick<FinishedImport, 'organizationId' | 'importId'>[],
): Promise<void> {
  if (finished.length === 0) return;
  await sql`
    delete from content_import using unnest(
      ${finished.map(({ organizationId }) => organizationId)}::text[],
      ${finished.map(({ importId }) => importId)}::text[]
    ) as done (organization_id, import_id)
    where (content_import.organization_id, content_import.import_id)
      = (done.organization_id, done.import_id)
  `.execute(tx);
}
