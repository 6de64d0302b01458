/** `reelfeed backup <folder>`: a complete copy of a running installation. */
import { copyFile, mkdir, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { readConfig, type Config } from '../../app/config.ts';
import { ConfigurationError } from '../../platform/settings.ts';
import { sync } from '../../platform/storage/durable.ts';
import { openStorage } from '../../platform/storage/open-storage.ts';
import { keyFile } from '../../platform/vault.ts';
import { version } from '../../version.ts';
import { print, UsageError, type Command } from '../command.ts';
import { withConnection } from '../with-database.ts';
import { beginSnapshot, dumpDatabase } from './database-dump.ts';
import { withBackupClient } from './database-load.ts';
import { hashFile, writeManifest, type FileEntry, type Manifest } from './manifest.ts';
import { MediaCopy } from './media-copy.ts';

export const backup: Command = async ({ env, json, positionals: [target], includeKey }) => {
  if (target === undefined) throw new UsageError('Usage: reelfeed backup <folder> [--include-key]');
  const config = readConfig(env);
  const folder = path.resolve(target);
  await makeEmptyFolder(folder);
  const manifest = await withConnection(config, (connection) =>
    withBackupClient(connection, async (client) => {
      const media = new MediaCopy(await openStorage(config), folder);
      await media.pass();
      await beginSnapshot(client);
      await media.pass();
      const database = await dumpDatabase(client, folder);
      return {
        format: 1,
        version,
        createdAt: new Date().toISOString(),
        ...database,
        media: media.entries(),
        encryptionKey: includeKey ? await copyKey(config, folder) : null,
      } satisfies Manifest;
    }),
  );
  await writeManifest(folder, manifest);
  const { tables, media, encryptionKey } = manifest;
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  print(json, { folder, tables: tables.length, rows, mediaFiles: media.length }, [
    `${folder} holds ${rows} rows of ${tables.length} tables and ${media.length} media files.`,
    encryptionKey === null
      ? 'The encryption key is not in it: keep a copy of it elsewhere, or use --include-key.'
      : 'It holds the encryption key too: keep it as safe as the key.',
  ]);
};

async function makeEmptyFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if ((await readdir(folder)).length === 0) return;
  throw new ConfigurationError(`${folder} is not empty. Choose a new folder for the backup.`);
}

async function copyKey(config: Config, folder: string): Promise<FileEntry> {
  if (config.encryptionKey !== null) {
    throw new ConfigurationError(
      'The key comes from REELFEED_ENCRYPTION_KEY, not from a file: keep it where it is kept.',
    );
  }
  const copy = path.join(folder, 'encryption.key');
  await copyFile(keyFile(config.dataDir), copy);
  await sync(copy);
  const { size: sizeBytes } = await stat(copy);
  return { path: 'encryption.key', sizeBytes, sha256: await hashFile(copy) };
}
