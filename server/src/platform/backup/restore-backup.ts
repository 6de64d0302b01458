/** Restores one backup into an empty database and a storage. */
import type { Client } from 'pg';
import type { Logger } from 'pino';
import type { DatabaseConnection } from '../database/database.ts';
import { migrate, readMigrations } from '../database/migrate.ts';
import { ConfigurationError } from '../settings.ts';
import type { Storage } from '../storage/storage.ts';
import { examineBackup, type BackupSource } from './backup-source.ts';
import { loadDatabase, type RowSource } from './database-load.ts';
import type { Manifest, MediaEntry } from './manifest.ts';

/** @throws ConfigurationError when the backup is damaged, or of a version that this one can't read */
export async function checkRestorable(
  source: BackupSource,
  isMediaChecked: (media: MediaEntry) => boolean = () => true,
): Promise<void> {
  await checkMigrations(source.manifest);
  const { problems } = await examineBackup(source, isMediaChecked);
  if (problems.length > 0) throw new ConfigurationError(`The backup is damaged: ${problems[0]}.`);
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

/** Loads the rows in one transaction, after the migrations that they were written under. */
export async function restoreDatabase(
  source: RowSource,
  connection: DatabaseConnection,
  client: Client,
  log: Logger,
): Promise<void> {
  await migrate(connection, log, source.manifest.migrations);
  // In one transaction: a restore that was cut short can simply be run again.
  await loadDatabase(client, source);
  await migrate(connection, log);
}

/** Puts media into the storage. @param keepSame leaves objects of the same size as they are */
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
