/** SQL for the state that the media engine keeps between the steps of one item. */
import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/database/database.ts';
import { jobRows } from '../../platform/queue/queries.ts';
import { totalPlays } from '../analytics/analytics.ts';
import type { PrepareResult } from '../media/media.ts';

export type Preparation = { mediaPrefix: string; prepared: PrepareResult };

/** Stores which renditions are missing after the first one was published. */
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

/** Stores the results for an item, for renditions that are added later. */
export async function storeLadder(
  tx: Tx,
  organizationId: string,
  contentId: string,
  { mediaPrefix, prepared }: Preparation,
): Promise<void> {
  const row = {
    media_prefix: mediaPrefix,
    prepared: JSON.stringify(prepared),
    extended_at: null,
  };
  await tx
    .insertInto('media_ladder')
    .values({ organization_id: organizationId, content_id: contentId, ...row })
    .onConflict((conflict) => conflict.columns(['organization_id', 'content_id']).doUpdateSet(row))
    .execute();
}

/** The stored results of an item that waits for AV1 renditions. */
export async function findLadder(
  db: Db,
  organizationId: string,
  contentId: string,
): Promise<Preparation | null> {
  const row = await db
    .selectFrom('media_ladder')
    .select(['media_prefix', 'prepared'])
    .where('organization_id', '=', organizationId)
    .where('content_id', '=', contentId)
    .where('extended_at', 'is', null)
    .executeTakeFirst();
  if (row === undefined) return null;
  return { mediaPrefix: row.media_prefix, prepared: row.prepared as PrepareResult };
}

export async function markExtended(
  tx: Tx,
  organizationId: string,
  contentId: string,
): Promise<void> {
  await tx
    .updateTable('media_ladder')
    .set({ extended_at: sql<Date>`clock_timestamp()` })
    .where('organization_id', '=', organizationId)
    .where('content_id', '=', contentId)
    .execute();
}

export type PopularItem = { organizationId: string; contentId: string; seconds: number };

/** Items with at least this many plays that wait for AV1 renditions and have no job for them. */
export async function findPopular(
  db: Db,
  jobName: string,
  { limit, minPlays }: { limit: number; minPlays: number },
): Promise<PopularItem[]> {
  const { rows } = await sql<PopularItem>`
    select ladder.organization_id as "organizationId", ladder.content_id as "contentId",
      (ladder.prepared -> 'info' ->> 'durationSeconds')::float8 as seconds
    from media_ladder ladder join ${totalPlays} counted using (organization_id, content_id)
    where ladder.extended_at is null and counted.plays >= ${minPlays}
      and not exists (
        select from ${jobRows} job where job.name = ${jobName}
          and job.payload ->> 'contentId' = ladder.content_id::text
      )
    order by counted.plays desc
    limit ${limit}
  `.execute(db);
  return rows;
}
