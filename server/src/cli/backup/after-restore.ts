/** The final steps of a restore, after the database and its media, and the summary it prints. */
import { stat, writeFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import type { Config } from '../../app/config.ts';
import { requestReplays, type ErasureRecord } from '../../features/events/events.ts';
import type { BackupSource } from '../../platform/backup/backup-source.ts';
import {
  inTransaction,
  openDatabase,
  type DatabaseConnection,
} from '../../platform/database/database.ts';
import { createLogger } from '../../platform/logging/logging.ts';
import { ConfigurationError } from '../../platform/settings/settings.ts';
import { sync } from '../../platform/storage/durable.ts';
import { keyFile } from '../../platform/secrets/vault.ts';

/** The steps for the operator after a restore. */
export function nextSteps(config: Config, replays: number, isReady: boolean): string[] {
  return [
    `${replays} viewer erasures are newer than the backup and will be repeated when the service starts.`,
    isReady
      ? 'Start the service.'
      : `Copy the encryption key to ${keyFile(config.dataDir)} or set REELFEED_ENCRYPTION_KEY, then start the service.`,
  ];
}

export async function replayErasures(
  connection: DatabaseConnection,
  records: readonly ErasureRecord[],
): Promise<number> {
  if (records.length === 0) return 0;
  await using database = openDatabase({ connection, poolSize: 1, log: createLogger('error') });
  return await inTransaction(database.db, (tx) => requestReplays(tx, records));
}

/** Writes the key from the backup into the data directory, unless a setting holds one. */
export async function restoreKey(
  config: Config,
  { manifest, read }: Pick<BackupSource, 'manifest' | 'read'>,
): Promise<void> {
  if (manifest.encryptionKey === null || config.encryptionKey !== null) return;
  const stream = await read(manifest.encryptionKey);
  if (stream === null)
    throw new ConfigurationError('The backup does not contain the encryption key.');
  await writeFile(keyFile(config.dataDir), await buffer(stream), { mode: 0o600, flush: true });
  await sync(config.dataDir);
}

export async function isThere(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  );
}
