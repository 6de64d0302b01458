import { recordAudit, recordChange } from '../features/audit/audit.ts';
import {
  allKeys,
  auditedKey,
  createKey,
  generateKey,
  presentKey,
  revoke,
  type KeyType,
} from '../features/keys/keys.ts';
import { readPlatformConfig } from '../platform/settings/config.ts';
import { inTransaction, type Db } from '../platform/database/database.ts';
import type { OrganizationId } from '../platform/values/ids.ts';
import { chooseOrganization } from './choose-organization.ts';
import { print, UsageError, type Command, type CommandInput } from './command.ts';
import { withDatabase } from './with-database.ts';

const longestName = 200;
const usage = `Usage:
  reelfeed keys list
  reelfeed keys create --type secret|publishable --name <1 to 200 characters>
  reelfeed keys revoke <key id>
  reelfeed keys generate --type secret|publishable    print a key for the configuration
If there is more than one organization, choose one with --org <id>.`;

export const keysCommand: Command = async (input) => {
  const [action = '', ...words] = input.positionals;
  if (action === 'generate' && words.length === 0) {
    const key = generateKey(requireType(input.type));
    print(input.json, { key }, [key]);
    return;
  }
  // The arguments are checked before a database is opened, or even created.
  const act = Object.hasOwn(actions, action) ? actions[action]?.(input, words) : undefined;
  if (act === undefined) throw new UsageError(usage);
  await withDatabase(readPlatformConfig(input.env), async (db) =>
    act(db, await chooseOrganization(db, input.org)),
  );
};

type Act = (db: Db, organizationId: OrganizationId) => Promise<void>;

/** Each action validates its arguments and returns what to do, or undefined if they are wrong. */
const actions: Record<string, (input: CommandInput, words: string[]) => Act | undefined> = {
  list: ({ json }, words) => (words.length === 0 ? (...on) => list(json, ...on) : undefined),
  create: ({ json, type, name }, words) => {
    const length = [...(name ?? '')].length;
    if (words.length > 0 || name === undefined || length < 1 || length > longestName) return;
    const request = { type: requireType(type), name, expiresAt: null };
    return async (db, organizationId) => {
      const key = await inTransaction(db, async (tx) => {
        const made = await createKey(tx, organizationId, request);
        await recordAudit(tx, {
          organizationId,
          actor: { type: 'command_line' },
          action: 'createKey',
          resourceId: made.id,
          changes: request,
        });
        return made;
      });
      print(json, key, [key.key, 'The key will not be shown again. Store it now.']);
    };
  },
  revoke: ({ json }, [id, ...others]) => {
    if (id === undefined || others.length > 0) return;
    return async (db, organizationId) => {
      const actor = { type: 'command_line' } as const;
      const entry = { organizationId, actor, action: 'revokeKey', resourceId: id };
      const key = await inTransaction(db, (tx) =>
        recordChange(
          tx,
          entry,
          () => auditedKey(tx, organizationId, id),
          () => revoke(tx, organizationId, id),
        ),
      );
      print(json, key, [`Revoked ${key.id}. Running processes reject it within five seconds.`]);
    };
  },
};

async function list(json: boolean, db: Db, organizationId: OrganizationId): Promise<void> {
  const keys = (await allKeys(db, organizationId)).map(presentKey);
  const lines = keys.map(
    (key) =>
      `${key.id}  ${key.type.padEnd(11)}  ${key.prefix}…  ${key.revokedAt === null ? 'works  ' : 'revoked'}  ${key.name}`,
  );
  print(json, keys, lines);
}

function requireType(type: string | undefined): KeyType {
  if (type === 'secret' || type === 'publishable') return type;
  throw new UsageError(usage);
}
