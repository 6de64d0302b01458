import { recordAudit } from '../features/audit/audit.ts';
import {
  createOrganization,
  listOrganizations,
  presentOrganization,
} from '../features/organizations/organizations.ts';
import { readPlatformConfig } from '../platform/settings/config.ts';
import { inTransaction } from '../platform/database/database.ts';
import { print, UsageError, type Command } from './command.ts';
import { withDatabase } from './with-database.ts';

const maxListed = 1_000;
const longestName = 200;

export const organizationsCommand: Command = async ({ env, positionals, json }) => {
  const [action, ...words] = positionals;
  const name = words.join(' ').trim();
  if (action === 'create' && name !== '' && [...name].length <= longestName) {
    await withDatabase(readPlatformConfig(env), async (db) => {
      const created = await inTransaction(db, async (tx) => {
        const made = await createOrganization(tx, name);
        await recordAudit(tx, {
          organizationId: made.organizationId,
          actor: { type: 'command_line' },
          action: 'createOrganization',
          resourceId: made.organizationId,
          changes: { name },
        });
        return made;
      });
      print(json, created, [
        `Organization     ${created.organizationId}`,
        `Secret key       ${created.secretKey}`,
        `Publishable key  ${created.publishableKey}`,
        'These keys will not be shown again. Store them now.',
      ]);
    });
  } else if (action === 'list' && name === '') {
    await withDatabase(readPlatformConfig(env), async (db) => {
      const organizations = (await listOrganizations(db, maxListed)).map(presentOrganization);
      print(
        json,
        organizations,
        organizations.map((organization) => `${organization.id}  ${organization.name}`),
      );
    });
  } else {
    throw new UsageError(
      'Usage: reelfeed org create <name of 1 to 200 characters> | reelfeed org list',
    );
  }
};
