/** What the media engine remembers between the steps of one item. */
import type { Db, Tx } from '../../platform/database/database.ts';
import type { PrepareResult } from '../media/media.ts';

export type Preparation = { mediaPrefix: string; prepared: PrepareResult };

/** Remembers which renditions are missing after the first one was published. */
export async function storePreparation(
  tx: Tx,
  organizationId: string,
  contentId: string,
  { mediaPrefix, prepared }: Preparation,
): Promise<void> {
  const row = { media_prefix: mediaPrefix, prepared: JSON.stringify(prepared) };
  await tx
    .insertInto('media_preparation')
    .values({ organization_id: organizationId, content_id: contentId, ...row })
    .onConflict((conflict) => conflict.columns(['organization_id', 'content_id']).doUpdateSet(row))
    .execute();
}

export async function findPreparation(
  db: Db,
  organizationId: string,
  contentId: string,
): Promise<Preparation | null> {
  const row = await db
    .selectFrom('media_preparation')
    .select(['media_prefix', 'prepared'])
    .where('organization_id', '=', organizationId)
    .where('content_id', '=', contentId)
    .executeTakeFirst();
  if (row === undefined) return null;
  return { mediaPrefix: row.media_prefix, prepared: row.prepared as PrepareResult };
}

export async function removePreparation(
  tx: Tx,
  organizationId: string,
  contentId: string,
): Promise<void> {
  await tx
    .deleteFrom('media_preparation')
    .where('organization_id', '=', organizationId)
    .where('content_id', '=', contentId)
    .execute();
}
