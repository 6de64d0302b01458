/** `reelfeed people`: manages people when nobody can do it in the console. */
import { readConfig } from '../app/config.ts';
import { publicUrlOf } from '../platform/settings/config.ts';
import { recordAudit, recordChange } from '../features/audit/audit.ts';
import {
  auditEverywhere,
  auditedMember,
  createResetLink,
  deletePasskeys,
  findAccount,
  invite,
  listMembers,
  normalEmail,
  presentMember,
  removeMember,
  removeTotp,
} from '../features/people/people.ts';
import { inTransaction, type Db } from '../platform/database/database.ts';
import { openVault } from '../platform/secrets/encryption-key.ts';
import { roles, type Role } from '../platform/http/roles.ts';
import type { OrganizationId } from '../platform/values/ids.ts';
import { chooseOrganization } from './choose-organization.ts';
import { print, UsageError, type Command } from './command.ts';
import { withDatabase } from './with-database.ts';

const usage = [
  'Usage: reelfeed people list [--org <id>]',
  '       reelfeed people invite <email> --role viewer|analyst|editor|admin|owner [--org <id>]',
  '       reelfeed people remove <email> [--org <id>]',
  '       reelfeed people reset <email>',
  '       reelfeed people remove-second-factor <email>',
  '       reelfeed people remove-passkeys <email>',
].join('\n');

const maxListed = 1_000;

export const peopleCommand: Command = async ({ env, positionals, json, org, role }) => {
  const [action = '', email, ...others] = positionals;
  const needsEmail = action !== 'list';
  if (others.length > 0 || needsEmail !== (email !== undefined)) throw new UsageError(usage);
  const config = readConfig(env);
  const publicUrl = publicUrlOf(config, config.port);
  const address = normalEmail(email ?? '');
  await withDatabase(config, async (db) => {
    switch (action) {
      case 'list':
        return list(json, db, await chooseOrganization(db, org));
      case 'invite': {
        const wanted = requireRole(role);
        const organizationId = await chooseOrganization(db, org);
        const vault = await openVault(db, config);
        const made = await inTransaction(db, async (tx) => {
          const invitation = { organizationId, email: address, role: wanted, invitedBy: null };
          const invited = await invite(tx, vault, publicUrl, invitation);
          const changes = { email: address, role: wanted };
          await audit(tx, organizationId, 'createInvitation', invited.id, changes);
          return invited;
        });
        return print(json, made, [made.url, 'The link works once and expires in a week.']);
      }
      case 'remove': {
        const organizationId = await chooseOrganization(db, org);
        const { personId } = await requireAccount(db, address);
        await inTransaction(db, async (tx) => {
          const actor = { type: 'command_line' } as const;
          await recordChange(
            tx,
            { organizationId, actor, action: 'removePerson', resourceId: personId },
            () => auditedMember(tx, organizationId, personId),
            () => removeMember(tx, organizationId, personId, 'owner'),
          );
        });
        return print(json, { id: personId, removed: true }, [`Removed ${address}.`]);
      }
      case 'reset': {
        const { personId } = await requireAccount(db, address);
        const url = await inTransaction(db, async (tx) => {
          await auditEverywhere(tx, personId, 'createResetLink', { type: 'command_line' });
          return createResetLink(tx, publicUrl, personId);
        });
        return print(json, { url }, [url, 'The link resets the password once, within an hour.']);
      }
      case 'remove-second-factor': {
        const { personId } = await requireAccount(db, address);
        await inTransaction(db, async (tx) => {
          await removeTotp(tx, personId);
          await auditEverywhere(tx, personId, 'removeSecondFactor', { type: 'command_line' });
        });
        return print(json, { id: personId }, [`Removed the second factor of ${address}.`]);
      }
      case 'remove-passkeys': {
        const { personId } = await requireAccount(db, address);
        const removed = await inTransaction(db, async (tx) => {
          const count = await deletePasskeys(tx, personId);
          if (count > 0)
            await auditEverywhere(tx, personId, 'removePasskey', { type: 'command_line' });
          return count;
        });
        return print(json, { id: personId, removed }, [`Removed the passkeys of ${address}.`]);
      }
      default:
        throw new UsageError(usage);
    }
  });
};

async function list(json: boolean, db: Db, organizationId: OrganizationId): Promise<void> {
  const rows = await listMembers(db, organizationId, { limit: maxListed, after: null });
  const people = rows.map(presentMember);
  const lines = people.map(
    ({ id, role, email, name }) => `${id}  ${role.padEnd(7)}  ${email}  ${name}`,
  );
  print(json, people, lines.length === 0 ? ['There are no accounts yet.'] : lines);
}

function audit(
  tx: Parameters<typeof recordAudit>[0],
  organizationId: OrganizationId,
  action: string,
  resourceId: string,
  changes?: object,
): Promise<void> {
  const actor = { type: 'command_line' } as const;
  return recordAudit(tx, { organizationId, actor, action, resourceId, changes });
}

async function requireAccount(db: Db, email: string) {
  const account = await findAccount(db, email);
  if (account === null) throw new UsageError(`There is no account with the address ${email}.`);
  return account;
}

function requireRole(role: string | undefined): Role {
  const found = roles.find((one) => one === role);
  if (found === undefined) throw new UsageError(usage);
  return found;
}
