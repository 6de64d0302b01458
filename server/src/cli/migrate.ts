import { readPlatformConfig } from '../platform/settings/config.ts';
import { migrate, migrationStatus } from '../platform/database/migrate.ts';
import { createLogger } from '../platform/logging/logging.ts';
import { print, UsageError, type Command } from './command.ts';
import { withConnection } from './with-database.ts';

export const migrateCommand: Command = async ({ env, positionals: [action], json }) => {
  if (action !== undefined && action !== 'status') {
    throw new UsageError('Usage: reelfeed migrate [status]');
  }
  await withConnection(readPlatformConfig(env), async (connection) => {
    if (action === 'status') {
      const status = await migrationStatus(connection);
      print(json, status, [
        `applied: ${status.applied.length}`,
        `pending: ${status.pending.join(', ') || 'none'}`,
        `unknown to this version: ${status.unknown.join(', ') || 'none'}`,
        ...(status.changed.length === 0 ? [] : [`changed: ${status.changed.join(', ')}`]),
      ]);
      return;
    }
    const applied = await migrate(connection, createLogger('error'));
    const lines = applied.length === 0 ? ['The database is up to date.'] : applied;
    print(json, { applied }, lines);
  });
};
