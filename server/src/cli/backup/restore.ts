/** `reelfeed restore [<place>]`: restores a backup into an empty data directory and database. */
import type { Client } from 'pg';
import { readConfig, type Config } from '../../app/config.ts';
import { directConnection } from '../../platform/settings/config.ts';
import { claimDataDirectory } from '../../platform/data-directory/data-directory.ts';
import { readErasureRecords } from '../../features/events/events.ts';
import { openBackupSource } from '../../platform/backup/backup-source.ts';
import { withBackupClient } from '../../platform/backup/database-load.ts';
import {
  checkRestorable,
  restoreDatabase,
  restoreMedia,
} from '../../platform/backup/restore-backup.ts';
import type { DatabaseConnection } from '../../platform/database/database.ts';
import { createLogger } from '../../platform/logging/logging.ts';
import { startEmbeddedPostgres } from '../../platform/postgres/embedded-postgres.ts';
import { ConfigurationError } from '../../platform/settings/settings.ts';
import { openStorage } from '../../platform/storage/open-storage.ts';
import { keyFile } from '../../platform/secrets/vault.ts';
import { print, type Command } from '../command.ts';
import { readErasuresFile } from '../erasures.ts';
import { isThere, nextSteps, replayErasures, restoreKey } from './after-restore.ts';
import { backupPlaceOf } from './backup.ts';
import { restoreMoment } from './restore-moment.ts';

const usage =
  'restore [<folder>|s3://<bucket>/<prefix>] [--backup <id> | --to <time>] [--erasures <file>]';

export const restore: Command = async (input) => {
  const { env, json, positionals, erasures: file, backup = null, to } = input;
  const config = readConfig(env);
  const place = backupPlaceOf(positionals[0], config, usage);
  const known = file === undefined ? [] : await readErasuresFile(file);
  if (to !== undefined) return restoreMoment({ config, place, to, known, json });
  const options = { place, passphrase: config.backupPassphrase, id: backup };
  const source = await openBackupSource(options, config);
  const { manifest } = source;
  await checkRestorable(source);
  const log = createLogger('error');
  let replays = 0;
  await withEmptyDatabase(config, async (connection) =>
    withBackupClient(connection, async (client) => {
      await requireEmpty(client);
      await restoreKey(config, source);
      const storage = await openStorage(config);
      // Read before the backup overwrites them: the records in the storage may be newer.
      const records = [...known, ...(await Array.fromAsync(readErasureRecords(storage)))];
      await restoreMedia(storage, source.media(), source.read);
      await restoreDatabase(source, connection, client, log);
      replays = await replayErasures(connection, records);
    }),
  );
  const isReady = config.encryptionKey !== null || (await isThere(keyFile(config.dataDir)));
  print(json, { restored: manifest.createdAt, isReady, erasures: replays }, [
    `Restored the backup of ${manifest.createdAt}.`,
    ...nextSteps(config, replays, isReady),
  ]);
};

/** @throws ConfigurationError if an organization already exists */
async function requireEmpty(client: Client): Promise<void> {
  const { rows } = await client.query<{ isThere: boolean }>(
    `select to_regclass('public.organization') is not null as "isThere"`,
  );
  if (rows[0]?.isThere !== true) return;
  const { rowCount } = await client.query('select from organization limit 1');
  if (rowCount === 0) return;
  throw new ConfigurationError('The database is not empty. Restore into an empty database.');
}

async function withEmptyDatabase(
  config: Config,
  work: (connection: DatabaseConnection) => Promise<void>,
): Promise<void> {
  if (config.databaseUrl !== null) return work(directConnection(config, config.databaseUrl));
  await using stack = new AsyncDisposableStack();
  const dataDir = stack.use(await claimDataDirectory(config.dataDir));
  const { signal } = new AbortController();
  const log = createLogger('error');
  const postgres = stack.use(await startEmbeddedPostgres({ dataDir, log, signal }));
  await work(postgres.connection);
}
