import type { Db } from '../../platform/database/database.ts';
import type { SourceTrack, SourceWarning } from '../media/media.ts';

/** What processing found in the file of an item, in the words of the API. */
export type SourceReport = { sourceTracks: SourceTrack[]; warnings: SourceWarning[] };

/** The report of an item; empty before it is ready, and for an item without a file. */
export async function findSourceReport(
  db: Db,
  organizationId: string,
  contentId: string,
): Promise<SourceReport> {
  const row = await db
    .selectFrom('content')
    .select(['source_tracks', 'source_warnings'])
    .where('organization_id', '=', organizationId)
    .where('content_id', '=', contentId)
    .executeTakeFirst();
  return { sourceTracks: row?.source_tracks ?? [], warnings: row?.source_warnings ?? [] };
}
