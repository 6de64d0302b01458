import type { Client } from 'pg';
import type { Logger } from 'pino';
import type { DatabaseConnection } from '../database/database.ts';
import { migrate, readMigrations } from '../database/migrate.ts';
import { ConfigurationError } from '../settings/settings.ts';
import type { Storage } from '../storage/storage.ts';
import { examineBackup, type BackupSource } from './backup-source.ts';
import { loadDatabase, type RowSource } from './database-load.ts';
import type { Manifest, MediaEntry } from './manifest.ts';

/** @throws ConfigurationError if the backup is damaged or its version is unsupported */
export async function checkRestorable(
  source: BackupSource,
  isMediaChecked: (media: MediaEntry) => boolean = () => true,
): Promise<void> {
  await checkMigrations(source.manifest);
  const { problems } = await examineBackup(source, isMediaChecked);
  if (problems.length > 0) throw new ConfigurationError(`The backup is damaged: ${problems[0]}.`);
}

/** An older version cannot read data written by a newer one. */
async function checkMigrations({ migrations, version }: Manifest): Promise<void> {
  const known = new Map((await readMigrations()).map(({ name, checksum }) => [name, checksum]));
  const other = migrations.find(({ name, checksum }) => known.get(name) !== checksum);
  if (other === undefined) return;
  throw new ConfigurationError(
    `The backup was made by Reelfeed ${version} with the migration ${other.name}, which this ` +
      'version lacks or has in a different form. Restore it with that version or a newer one.',
  );
}

/** Applies the migrations that the backup was made with, then loads the rows in one transaction. */
export async function restoreDatabase(
  source: RowSource,
  connection: DatabaseConnection,
  client: Client,
  log: Logger,
): Promise<void> {
  await migrate(connection, log, source.manifest.migrations);
  // Loads the rows in one transaction, so an interrupted restore can simply be repeated.
  await loadDatabase(client, source);
  await migrate(connection, log);
}

/**
 * Copies media into the storage.
 *
 * @param keepSame skips objects that already exist with the same size
 */
export async function restoreMedia(
  storage: Storage,
  media: AsyncIterable<MediaEntry> | Iterable<MediaEntry>,
  read: BackupSource['read'],
  keepSame = false,
): Promise<number> {
  let restored = 0;
  for await (const entry of media) {
    if (keepSame && (await storage.head(entry.key))?.sizeBytes === entry.sizeBytes) continue;
    const stream = await read(entry);
    if (stream === null) throw new Error(`${entry.path} is missing in the backup`);
    await storage.put(entry.key, stream);
    restored += 1;
  }
  return restored;
}
