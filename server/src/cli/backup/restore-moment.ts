/**
 * `reelfeed restore --to <time>`: restores the embedded database and its media to a point in time.
 */
import type { Config } from '../../app/config.ts';
import { readErasureRecords, type ErasureRecord } from '../../features/events/events.ts';
import { sourceIn } from '../../platform/backup/backup-source.ts';
import { listBackups } from '../../platform/backup/manifest.ts';
import { MediaIndex } from '../../platform/backup/media-index.ts';
import { openPlace } from '../../platform/backup/place.ts';
import {
  endRecovery,
  planRecovery,
  recoverDatabase,
} from '../../platform/backup/recovery/recover.ts';
import { openRepository, type Repository } from '../../platform/backup/repository.ts';
import { restoreMedia } from '../../platform/backup/restore-backup.ts';
import { claimDataDirectory } from '../../platform/data-directory/data-directory.ts';
import { migrate } from '../../platform/database/migrate.ts';
import { createLogger } from '../../platform/logging/logging.ts';
import { startEmbeddedPostgres } from '../../platform/postgres/embedded-postgres.ts';
import { ConfigurationError } from '../../platform/settings/settings.ts';
import { openStorage } from '../../platform/storage/open-storage.ts';
import { keyFile } from '../../platform/secrets/vault.ts';
import { print, UsageError } from '../command.ts';
import { isThere, nextSteps, replayErasures, restoreKey } from './after-restore.ts';

type Options = {
  config: Config;
  place: string;
  to: string;
  /** Erasures listed in the given file. */
  known: readonly ErasureRecord[];
  json: boolean;
};

export async function restoreMoment({ config, place, to, known, json }: Options): Promise<void> {
  const moment = new Date(to);
  if (!/^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:\d\d)$/.test(to) || Number.isNaN(moment.getTime())) {
    throw new UsageError(`--to takes a time such as 2026-11-24T13:05:00Z, not "${to}".`);
  }
  if (config.databaseUrl !== null) {
    throw new ConfigurationError(
      '`restore --to` works only with the embedded database. Unset DATABASE_URL, or use the tools of your own server.',
    );
  }
  const repository = await openRepository(await openPlace(place, config), {
    place,
    passphrase: config.backupPassphrase,
    create: false,
  });
  const plan = await planRecovery(repository, moment);
  const log = createLogger('error');
  const { signal } = new AbortController();
  await using dataDir = await claimDataDirectory(config.dataDir);
  await recoverDatabase(plan, repository, dataDir, log, signal);
  await restoreNewestKey(config, repository);
  const storage = await openStorage(config);
  const records = [...known, ...(await Array.fromAsync(readErasureRecords(storage)))];
  const index = await MediaIndex.open(repository);
  const read = ({ path }: { path: string }) => repository.read(path);
  const mediaFiles = await restoreMedia(storage, index.entries(Infinity), read, true);
  await using postgres = await startEmbeddedPostgres({ dataDir, log, signal });
  await migrate(postgres.connection, log);
  const replays = await replayErasures(postgres.connection, records);
  await endRecovery(dataDir);
  const isReady = config.encryptionKey !== null || (await isThere(keyFile(config.dataDir)));
  const restored = moment.toISOString();
  print(json, { restored, isReady, erasures: replays, mediaFiles }, [
    `Restored the database as of ${restored} and ${mediaFiles} media files.`,
    ...nextSteps(config, replays, isReady),
  ]);
}

/** The key never changes, so any backup has the right one. */
async function restoreNewestKey(config: Config, repository: Repository): Promise<void> {
  for (const id of (await listBackups(repository)).toReversed()) {
    const source = await sourceIn(repository, id);
    if (source.manifest.encryptionKey !== null) return restoreKey(config, source);
  }
}
