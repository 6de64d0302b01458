import { sql } from 'kysely';
import type { Db } from '../../platform/database/database.ts';
import type { ContentId } from '../../platform/ids.ts';

/** Those of the ids that are items of the organization, archived ones included. */
export async function selectExisting(
  db: Db,
  organizationId: string,
  ids: readonly ContentId[],
): Promise<Set<ContentId>> {
  const { rows } = await sql<{ content_id: ContentId }>`
    select content_id from content
    where organization_id = ${organizationId} and content_id = any(${ids}::uuid[])
  `.execute(db);
  return new Set(rows.map((row) => row.content_id));
}
