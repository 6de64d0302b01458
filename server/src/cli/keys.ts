import { allKeys, createKey, generateKey, presentKey, revoke } from '../features/keys/keys.ts';
import { listOrganizations } from '../features/organizations/organizations.ts';
import { readConfig } from '../platform/config.ts';
import { inTransaction, type Db } from '../platform/database/database.ts';
import type { KeyType } from '../platform/database/tables.ts';
import { ApiError } from '../platform/http/errors.ts';
import type { OrganizationId } from '../platform/ids.ts';
import { print, UsageError, type Command, type CommandInput } from './command.ts';
import { withDatabase } from './with-database.ts';

const usage = `Usage:
  reelfeed keys list
  reelfeed keys create --type secret|publishable --name <name>
  reelfeed keys revoke <key id>
  reelfeed keys generate --type secret|publishable    prints a key for the configuration
With more than one organization, choose it by --org <id>.`;

export const keysCommand: Command = async (input) => {
  const [action, id] = input.positionals;
  if (action === 'generate') {
    const key = generateKey(requireType(input.type));
    print(input.json, { key }, [key]);
    return;
  }
  const act = actions[action ?? ''];
  if (act === undefined) throw new UsageError(usage);
  await withDatabase(readConfig(input.env), async (db) => {
    try {
      await act(db, await chooseOrganization(db, input.org), input, id);
    } catch (error) {
      if (error instanceof ApiError) throw new UsageError(error.message);
      throw error;
    }
  });
};

type Action = (
  db: Db,
  organizationId: OrganizationId,
  input: CommandInput,
  id: string | undefined,
) => Promise<void>;

const actions: Record<string, Action> = {
  async list(db, organizationId, { json }) {
    const keys = (await allKeys(db, organizationId)).map(presentKey);
    const lines = keys.map(
      (key) =>
        `${key.id}  ${key.type.padEnd(11)}  ${key.prefix}…  ${key.revokedAt === null ? 'works  ' : 'revoked'}  ${key.name}`,
    );
    print(json, keys, lines);
  },
  async create(db, organizationId, { json, type, name }) {
    if (name === undefined || name === '') throw new UsageError(usage);
    const request = { type: requireType(type), name, expiresAt: null };
    const key = await inTransaction(db, (tx) => createKey(tx, organizationId, request));
    print(json, key, [key.key, 'The key is shown this once: keep it.']);
  },
  async revoke(db, organizationId, { json }, id) {
    if (id === undefined) throw new UsageError(usage);
    const key = await inTransaction(db, (tx) => revoke(tx, organizationId, id));
    print(json, key, [`${key.id} is revoked. Running processes refuse it within five seconds.`]);
  },
};

function requireType(type: string | undefined): KeyType {
  if (type === 'secret' || type === 'publishable') return type;
  throw new UsageError(usage);
}

async function chooseOrganization(db: Db, wanted: string | undefined): Promise<OrganizationId> {
  const organizations = await listOrganizations(db, 1_000);
  const chosen =
    wanted === undefined && organizations.length === 1
      ? organizations[0]
      : organizations.find((organization) => organization.organization_id === wanted);
  if (chosen !== undefined) return chosen.organization_id as OrganizationId;
  const names = organizations.map(({ organization_id: id, name }) => `  ${id}  ${name}`).join('\n');
  throw new UsageError(
    organizations.length === 0
      ? 'There is no organization yet: start the service once, or run reelfeed org create.'
      : `Choose the organization by --org <id>:\n${names}`,
  );
}
