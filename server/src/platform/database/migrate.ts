import { createHash } from 'node:crypto';
import { glob, readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Client } from 'pg';
import type { Logger } from 'pino';
import type { DatabaseConnection } from './database.ts';
import { withSession } from './session.ts';

/**
 * The key of the advisory lock held while migrating. An arbitrary number, the same in every
 * process.
 */
const migrationLock = 7_205_019_833;
const migrationsFolder = new URL('../../../migrations/', import.meta.url);
const sourceFolder = fileURLToPath(new URL('../../', import.meta.url));

export type Migration = { name: string; sql: string; checksum: string };
export type MigrationStatus = {
  applied: string[];
  pending: string[];
  /** Applied by a newer version. */
  unknown: string[];
  /** Applied with a text that differs from this version's file. The process refuses to start. */
  changed: string[];
};

export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

/** The migrations of this version: `server/migrations/*.sql`, in order of their names. */
export async function readMigrations(): Promise<Migration[]> {
  const names = (await readdir(migrationsFolder)).filter((name) => name.endsWith('.sql'));
  return Promise.all(
    names.toSorted().map(async (name) => {
      const sql = await readFile(new URL(name, migrationsFolder), 'utf8');
      return { name, sql, checksum: checksumOf(sql) };
    }),
  );
}

/**
 * Migrates the database to this version. Each pending file runs in a separate transaction, under a
 * lock that any number of starting processes may wait for. A crash at any point leaves only
 * complete migrations. Then the SQL functions of features (`functions.sql`) are replaced if this
 * version has different ones. Older processes that are still running use the new functions too, so
 * a change must be compatible with both versions, just like a migration.
 *
 * @param only the migrations that a backup was made with; default: all of this version
 * @returns the names of the migrations that this call applied
 * @throws MigrationError if the database is of a newer version, a file was changed after it was
 * applied, or the server does not meet this version's requirements
 */
export async function migrate(
  connection: DatabaseConnection,
  log: Logger,
  only?: readonly { name: string }[],
): Promise<string[]> {
  return withMigrationClient(connection, async (client) => {
    await checkServer(client);
    await client.query('select pg_advisory_lock($1)', [migrationLock]);
    const migrations = await readMigrations();
    await client.query(historyTable);
    const applied = await appliedMigrations(client);
    checkHistory(migrations, applied);
    const wanted = only && new Set(only.map(({ name }) => name));
    const pending = migrations.filter(
      ({ name }) => !applied.has(name) && wanted?.has(name) !== false,
    );
    for (const migration of pending) {
      await apply(client, migration);
      log.debug({ migration: migration.name }, 'migration applied');
    }
    // Logs a single line: the first start applies all migrations, and then prints keys that must
    // not be overlooked.
    if (pending.length > 0) {
      log.info({ migrations: pending.length, last: pending.at(-1)?.name }, 'migrations applied');
    }
    const isComplete = migrations.length === applied.size + pending.length;
    // A backup from an older version may lack tables that this version's functions need.
    if (isComplete) await replaceFunctions(client, log);
    return pending.map((migration) => migration.name);
  });
}

const functionTable = `
  create table if not exists schema_function (
    file text primary key,
    checksum text not null,
    replaced_at timestamptz not null default now()
  )`;

/** Runs each `functions.sql` that differs from the version applied last, all or nothing. */
async function replaceFunctions(client: Client, log: Logger): Promise<void> {
  await client.query(functionTable);
  const { rows } = await client.query<{ file: string; checksum: string }>(
    'select file, checksum from schema_function',
  );
  const known = new Map(rows.map(({ file, checksum }) => [file, checksum]));
  const changed: Migration[] = [];
  const names = await Array.fromAsync(glob('**/functions.sql', { cwd: sourceFolder }));
  // The order is always the same, because a view may depend on one from an earlier file.
  for (const name of names.toSorted()) {
    const sql = await readFile(sourceFolder + name, 'utf8');
    const checksum = checksumOf(sql);
    if (known.get(name) !== checksum) changed.push({ name, sql, checksum });
  }
  if (changed.length === 0) return;
  await inClientTransaction(client, 'The functions', async () => {
    for (const { name, sql, checksum } of changed) {
      await client.query(sql);
      await client.query(
        `insert into schema_function (file, checksum) values ($1, $2)
         on conflict (file) do update set checksum = excluded.checksum, replaced_at = now()`,
        [name, checksum],
      );
    }
  });
  log.debug({ files: changed.map(({ name }) => name) }, 'database functions replaced');
}

/** Compares the applied migrations with those of this version. Changes nothing. */
export async function migrationStatus(connection: DatabaseConnection): Promise<MigrationStatus> {
  return withMigrationClient(connection, async (client) => {
    const migrations = await readMigrations();
    const applied = (await historyExists(client))
      ? await appliedMigrations(client)
      : new Map<string, string>();
    const known = new Map(migrations.map(({ name, checksum }) => [name, checksum]));
    return {
      applied: [...applied.keys()].filter((name) => known.has(name)),
      pending: migrations.map(({ name }) => name).filter((name) => !applied.has(name)),
      unknown: [...applied.keys()].filter((name) => !known.has(name)),
      changed: [...applied]
        .filter(([name, checksum]) => known.has(name) && known.get(name) !== checksum)
        .map(([name]) => name),
    };
  });
}

function withMigrationClient<T>(
  connection: DatabaseConnection,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const options = {
    applicationName: 'reelfeed-migrate',
    unlimited: ['lock_timeout', 'statement_timeout'],
  };
  return withSession(connection, options, work);
}

const oldestServer = 15;

/** Also reports in advance conditions that would make a migration fail. */
async function checkServer(client: Client): Promise<void> {
  const { rows } = await client.query<{ version: string; encoding: string }>(
    `select current_setting('server_version') as version,
       current_setting('server_encoding') as encoding`,
  );
  const { version = '', encoding = '' } = rows[0] ?? {};
  if (Number.parseInt(version, 10) < oldestServer) {
    throw new MigrationError(
      `PostgreSQL ${oldestServer} or newer is required; this is ${version}.`,
    );
  }
  if (encoding !== 'UTF8') {
    throw new MigrationError(
      `The database has the encoding ${encoding}, which cannot store all text. Create it with ` +
        "encoding 'UTF8'.",
    );
  }
}

const historyTable = `
  create table if not exists schema_migration (
    name text primary key,
    checksum text not null,
    applied_at timestamptz not null default now()
  )`;

async function historyExists(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ exists: boolean }>(
    `select to_regclass('schema_migration') is not null as exists`,
  );
  return rows[0]?.exists ?? false;
}

async function appliedMigrations(client: Client): Promise<Map<string, string>> {
  const { rows } = await client.query<{ name: string; checksum: string }>(
    'select name, checksum from schema_migration order by name',
  );
  return new Map(rows.map((row) => [row.name, row.checksum]));
}

function checkHistory(migrations: Migration[], applied: Map<string, string>): void {
  const known = new Map(migrations.map((migration) => [migration.name, migration.checksum]));
  for (const [name, checksum] of applied) {
    const expected = known.get(name);
    if (expected === undefined) {
      throw new MigrationError(
        `The database was migrated by a newer version (${name} is unknown here). ` +
          'Start that version, or restore a backup from before it.',
      );
    }
    if (expected !== checksum) {
      throw new MigrationError(
        `The migration ${name} differs from the one that was applied to this database. ` +
          'Restore the file: migrations are never edited after a release.',
      );
    }
  }
}

function checksumOf(sql: string): string {
  return createHash('sha256').update(sql).digest('hex');
}

async function apply(client: Client, { name, sql, checksum }: Migration): Promise<void> {
  await inClientTransaction(client, `The migration ${name}`, async () => {
    await client.query(sql);
    await client.query('insert into schema_migration (name, checksum) values ($1, $2)', [
      name,
      checksum,
    ]);
  });
}

/** @throws MigrationError that begins with `what` if `work` fails */
async function inClientTransaction(
  client: Client,
  what: string,
  work: () => Promise<void>,
): Promise<void> {
  await client.query('begin');
  try {
    await work();
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw new MigrationError(`${what} failed: ${(error as Error).message}`, { cause: error });
  }
}
