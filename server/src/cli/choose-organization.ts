/** Chooses the organization that a command works on: the only one, or the one given by `--org`. */
import { listOrganizations } from '../features/organizations/organizations.ts';
import type { Db } from '../platform/database/database.ts';
import type { OrganizationId } from '../platform/values/ids.ts';
import { UsageError } from './command.ts';

/** @throws UsageError */
export async function chooseOrganization(
  db: Db,
  wanted: string | undefined,
): Promise<OrganizationId> {
  const organizations = await listOrganizations(db, 1_000);
  const chosen =
    wanted === undefined && organizations.length === 1
      ? organizations[0]
      : organizations.find((organization) => organization.organization_id === wanted);
  if (chosen !== undefined) return chosen.organization_id as OrganizationId;
  const names = organizations.map(({ organization_id: id, name }) => `  ${id}  ${name}`).join('\n');
  throw new UsageError(
    organizations.length === 0
      ? 'There is no organization yet. Start the service once, or run reelfeed org create.'
      : `Choose an organization with --org <id>:\n${names}`,
  );
}
