import { sql } from 'kysely';
import type { Db } from '../../../platform/database/database.ts';

/**
 * The share of last week's sessions in these countries and on these devices. An empty list matches
 * all. 1 if there were no sessions.
 */
export async function audienceShare(
  db: Db,
  organizationId: string,
  audience: { readonly countries: readonly string[]; readonly devices: readonly string[] },
): Promise<number> {
  const countries = [...audience.countries];
  const devices = [...audience.devices];
  const { rows } = await sql<{ share: number | null }>`
    select coalesce(sum(sessions) filter (
        where (cardinality(${countries}::text[]) = 0 or country = any(${countries}::text[]))
          and (cardinality(${devices}::text[]) = 0 or device = any(${devices}::text[]))
      ), 0)::float8 / nullif(sum(sessions), 0)::float8 as share
    from audience_counter
    where organization_id = ${organizationId} and grain = 'day'
      and period >= clock_timestamp() - interval '8 days'`.execute(db);
  return rows[0]?.share ?? 1;
}
