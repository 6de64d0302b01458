import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import type { CountSource } from './count-source.ts';
import { FilteredCounts } from './filtered-counts.ts';
import type { ReportFilter } from './filter.ts';
import { RolledUpCounts } from './rolled-up-counts.ts';

/** Chooses the source of a report: rollups, or the facts that match a filter. */
export function countsOf(
  db: Db,
  organizationId: OrganizationId,
  filter: ReportFilter | null,
): CountSource {
  return filter === null
    ? new RolledUpCounts(db, organizationId)
    : new FilteredCounts(db, organizationId, filter);
}
