import type { Db, Tx } from '../../platform/database/database.ts';

export async function insertSource(
  tx: Tx,
  organizationId: string,
  contentId: string,
  sourceUrl: string,
): Promise<void> {
  await tx
    .insertInto('import_source')
    .values({ organization_id: organizationId, content_id: contentId, source_url: sourceUrl })
    .execute();
}

/** Where the bytes of an item come from; null when they are there, or came another way. */
export async function findSourceUrl(
  db: Db,
  organizationId: string,
  contentId: string,
): Promise<string | null> {
  const row = await db
    .selectFrom('import_source')
    .select('source_url')
    .where('organization_id', '=', organizationId)
    .where('content_id', '=', contentId)
    .executeTakeFirst();
  return row?.source_url ?? null;
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
