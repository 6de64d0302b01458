/** `reelfeed backup [<place>]`: adds a backup of a running or stopped installation to a place. */
import { readConfig, type Config } from '../../app/config.ts';
import { openPlace } from '../../platform/backup/place.ts';
import { openRepository } from '../../platform/backup/repository.ts';
import { takeBackup } from '../../platform/backup/take-backup.ts';
import { openJetStream } from '../../platform/event-log/jetstream/jetstream-stream.ts';
import { createLogger } from '../../platform/logging/logging.ts';
import { ConfigurationError } from '../../platform/settings/settings.ts';
import { openStorage } from '../../platform/storage/open-storage.ts';
import { keyFile } from '../../platform/secrets/vault.ts';
import { version } from '../../version.ts';
import { print, UsageError, type Command } from '../command.ts';
import { withConnection } from '../with-database.ts';

export const backup: Command = async ({ env, json, positionals: [target], includeKey }) => {
  const config = readConfig(env);
  const place = backupPlaceOf(
    target,
    config,
    'backup [<folder>|s3://<bucket>/<prefix>] [--include-key]',
  );
  const repository = await openRepository(await openPlace(place, config), {
    place,
    passphrase: config.backupPassphrase,
    create: true,
  });
  await using stream =
    config.eventLogUrl === null
      ? null
      : await openJetStream(config.eventLogUrl, createLogger('error'));
  const storage = await openStorage(config);
  const key = keyToInclude(config, includeKey, repository.isEncrypted);
  const { id, manifest, added } = await withConnection(config, (connection) =>
    takeBackup({ connection, storage, stream, version }, repository, key),
  );
  const { tables, media } = manifest;
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  const mediaFiles = Array.isArray(media) ? media.length : media.files;
  const facts = { place, id, tables: tables.length, rows, mediaFiles };
  print(json, { ...facts, newMediaFiles: added.files, newMediaBytes: added.bytes }, [
    `Wrote the backup ${id} to ${place}: ${rows} rows of ${tables.length} tables and ${mediaFiles} media files, ${added.files} of them new.`,
    key === null
      ? 'It does not contain the encryption key. Keep a copy of the key elsewhere, or use --include-key.'
      : repository.isEncrypted
        ? 'It contains the encryption key and can be opened with only the passphrase. Keep the passphrase elsewhere.'
        : 'It contains the encryption key. Protect it as you would protect the key.',
  ]);
};

/**
 * The place given on the command line or in the settings.
 *
 * @throws UsageError if there is neither
 */
export function backupPlaceOf(
  given: string | undefined,
  { backupTo }: Pick<Config, 'backupTo'>,
  usage: string,
): string {
  const place = given ?? backupTo;
  if (place !== null) return place;
  throw new UsageError(
    `Usage: reelfeed ${usage}\nGive the backup location or set REELFEED_BACKUP_TO.`,
  );
}

/** An encrypted backup always includes the key, so a restore needs only the passphrase. */
function keyToInclude(config: Config, isAsked: boolean, isEncrypted: boolean): string | null {
  if (config.encryptionKey === null) {
    return isAsked || isEncrypted ? keyFile(config.dataDir) : null;
  }
  if (!isAsked) return null;
  throw new ConfigurationError(
    'The key comes from REELFEED_ENCRYPTION_KEY, so there is no key file to include. Keep a copy of the key elsewhere.',
  );
}
