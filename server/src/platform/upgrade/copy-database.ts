/** Copies the service's database from one server to another, without an intermediate file. */
import type { Client } from 'pg';
import type { Logger } from 'pino';
import { beginSnapshot, quote, readDatabase } from '../backup/database-dump.ts';
import { withBackupClient, type RowSource } from '../backup/database-load.ts';
import { restoreDatabase } from '../backup/restore-backup.ts';
import type { DatabaseConnection } from '../database/database.ts';
import { migrationStatus } from '../database/migrate.ts';
import { ConfigurationError } from '../settings/settings.ts';

export type CopiedDatabase = {
  readonly tables: number;
  readonly rows: number;
  /**
   * Databases and schemas of the old server that do not belong to the service and were not copied.
   */
  readonly leftBehind: readonly string[];
};

/**
 * Copies all rows in one transaction, from one snapshot. The rows of each table are counted on both
 * sides, and a difference fails the copy.
 *
 * @param to an empty database
 * @throws ConfigurationError if a newer release wrote the old database
 */
export async function copyDatabase(
  from: DatabaseConnection,
  to: DatabaseConnection,
  log: Logger,
): Promise<CopiedDatabase> {
  const { applied, unknown } = await migrationStatus(from);
  if (unknown.length > 0) {
    throw new ConfigurationError(
      `The database contains ${unknown[0]} of a newer release, which this release does not know. Use the newer release.`,
    );
  }
  return withBackupClient(from, async (client) => {
    const leftBehind = await namesOfOthers(client);
    // An interrupted first start has left a cluster without tables.
    if (applied.length === 0) return { tables: 0, rows: 0, leftBehind };
    await beginSnapshot(client);
    const source = await readSource(client);
    await withBackupClient(to, (target) => restoreDatabase(source, to, target, log));
    const { tables } = source.manifest;
    return {
      tables: tables.length,
      rows: tables.reduce((sum, { rows }) => sum + rows, 0),
      leftBehind,
    };
  });
}

/** Counts the rows before reading them, so that the load can compare the numbers. */
async function readSource(client: Client): Promise<RowSource> {
  const { tables, ...part } = await readDatabase(client);
  const counted = [];
  for (const { table, columns } of tables) {
    const { rows } = await client.query<{ count: string }>(
      `select count(*) as count from ${quote(table)}`,
    );
    counted.push({ path: table, table, columns, rows: Number(rows[0]?.count) });
  }
  return {
    manifest: { ...part, tables: counted },
    readRows: async ({ path }) => tables.find(({ table }) => table === path)?.rows() ?? null,
  };
}

async function namesOfOthers(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select 'database ' || datname as name from pg_database
     where not datistemplate and datname not in ('postgres', current_database())
     union all
     select 'schema ' || nspname from pg_namespace
     where nspname !~ '^pg_' and nspname not in ('public', 'information_schema')
     order by name`,
  );
  return rows.map(({ name }) => name);
}
