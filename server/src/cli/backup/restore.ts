/** `reelfeed restore <folder>`: restores a backup into an empty data directory and database. */
import { copyFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { readConfig, type Config } from '../../app/config.ts';
import { claimDataDirectory } from '../../platform/data-directory.ts';
import {
  readErasureRecords,
  requestReplays,
  type ErasureRecord,
} from '../../features/events/events.ts';
import {
  inTransaction,
  openDatabase,
  type DatabaseConnection,
} from '../../platform/database/database.ts';
import { migrate, readMigrations } from '../../platform/database/migrate.ts';
import { createLogger } from '../../platform/logging.ts';
import { startEmbeddedPostgres } from '../../platform/postgres/embedded-postgres.ts';
import { ConfigurationError } from '../../platform/settings.ts';
import { sync } from '../../platform/storage/durable.ts';
import { openStorage } from '../../platform/storage/open-storage.ts';
import { keyFile } from '../../platform/vault.ts';
import { print, UsageError, type Command } from '../command.ts';
import { readErasuresFile } from '../erasures.ts';
import { loadDatabase, requireEmpty, withBackupClient } from './database-load.ts';
import { fileProblem, filesOf, readManifest, type Manifest } from './manifest.ts';
import { restoreMedia } from './media-copy.ts';

export const restore: Command = async ({ env, json, positionals: [target], erasures: file }) => {
  if (target === undefined) {
    throw new UsageError('Usage: reelfeed restore <folder> [--erasures <file>]');
  }
  const folder = path.resolve(target);
  const config = readConfig(env);
  const manifest = await readManifest(folder);
  await checkFiles(folder, manifest);
  await checkMigrations(manifest);
  const known = file === undefined ? [] : await readErasuresFile(file);
  const log = createLogger('error');
  let replays = 0;
  await withEmptyDatabase(config, async (connection) =>
    withBackupClient(connection, async (client) => {
      await requireEmpty(client);
      await restoreKey(config, folder, manifest);
      const storage = await openStorage(config);
      // Before the backup's own take their place: those of the storage may be newer.
      const records = [...known, ...(await Array.fromAsync(readErasureRecords(storage)))];
      await restoreMedia(storage, folder, manifest.media);
      await migrate(connection, log, manifest.migrations);
      // Last and in one transaction: a restore that was cut short can simply be run again.
      await loadDatabase(client, folder, manifest);
      await migrate(connection, log);
      replays = await replayErasures(connection, records);
    }),
  );
  const hasKey = manifest.encryptionKey !== null || (await isThere(keyFile(config.dataDir)));
  const isReady = hasKey || config.encryptionKey !== null;
  print(json, { restored: manifest.createdAt, isReady, erasures: replays }, [
    `The backup of ${manifest.createdAt} is restored.`,
    `${replays} later erasures of viewers are known, and are repeated when the service starts.`,
    isReady
      ? 'Start the service.'
      : `Put the encryption key to ${keyFile(config.dataDir)}, or set REELFEED_ENCRYPTION_KEY, then start.`,
  ]);
};

async function replayErasures(
  connection: DatabaseConnection,
  records: readonly ErasureRecord[],
): Promise<number> {
  if (records.length === 0) return 0;
  await using database = openDatabase({ connection, poolSize: 1, log: createLogger('error') });
  return await inTransaction(database.db, (tx) => requestReplays(tx, records));
}

async function checkFiles(folder: string, manifest: Manifest): Promise<void> {
  for (const file of filesOf(manifest)) {
    const problem = await fileProblem(folder, file);
    if (problem === null) continue;
    throw new ConfigurationError(`The backup is damaged: ${file.path} ${problem}.`);
  }
}

/** An older version can't hold what a newer one has written. */
async function checkMigrations({ migrations, version }: Manifest): Promise<void> {
  const known = new Map((await readMigrations()).map(({ name, checksum }) => [name, checksum]));
  const other = migrations.find(({ name, checksum }) => known.get(name) !== checksum);
  if (other === undefined) return;
  throw new ConfigurationError(
    `The backup was made by Reelfeed ${version}, whose database has ${other.name}, which this ` +
      'version does not know in that form. Restore it by that version or a newer one.',
  );
}

async function withEmptyDatabase(
  config: Config,
  work: (connection: DatabaseConnection) => Promise<void>,
): Promise<void> {
  if (config.databaseUrl !== null) return work({ url: config.databaseUrl });
  await using stack = new AsyncDisposableStack();
  const dataDir = stack.use(await claimDataDirectory(config.dataDir));
  const { signal } = new AbortController();
  const log = createLogger('error');
  const postgres = stack.use(await startEmbeddedPostgres({ dataDir, log, signal }));
  await work(postgres.connection);
}

async function restoreKey(config: Config, folder: string, manifest: Manifest): Promise<void> {
  if (manifest.encryptionKey === null || config.encryptionKey !== null) return;
  const file = keyFile(config.dataDir);
  await copyFile(path.join(folder, manifest.encryptionKey.path), file);
  await sync(file);
  await sync(config.dataDir);
}

async function isThere(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  );
}
