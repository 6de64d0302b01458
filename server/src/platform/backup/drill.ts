/**
 * Tests backups by restoring them: the newest backup into a throwaway database and, if the WAL is
 * archived, the latest point in time it covers. The running installation is not touched.
 */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from 'pino';
import { claimDataDirectory, type DataDirectory } from '../data-directory/data-directory.ts';
import { startEmbeddedPostgres } from '../postgres/embedded-postgres.ts';
import { sourceIn } from './backup-source.ts';
import { withBackupClient } from './database-load.ts';
import { listBackups } from './manifest.ts';
import { archiveKey, listBases, type Archive } from './recovery/chain.ts';
import { planRecovery, recoverDatabase } from './recovery/recover.ts';
import type { Repository } from './repository.ts';
import { checkRestorable, restoreDatabase } from './restore-backup.ts';

export type DrillReport = {
  backup: string;
  rows: number;
  mediaFiles: number;
  /** The restored point in time; null if no WAL is archived. */
  moment: string | null;
};

type DrillOptions = {
  /** An empty or missing folder, which is removed at the end. */
  folder: string;
  log: Logger;
  signal: AbortSignal;
};

/** A sample of the media is read, but never fewer files than this. */
const leastMedia = 50;

/** @throws Error with a message saying what could not be restored */
export async function runDrill(
  repository: Repository,
  { folder, log, signal }: DrillOptions,
): Promise<DrillReport> {
  await rm(folder, { recursive: true, force: true });
  try {
    const id = (await listBackups(repository)).at(-1);
    if (id === undefined) throw new Error('there is no complete backup yet');
    const source = await sourceIn(repository, id);
    const { manifest } = source;
    const media = Array.isArray(manifest.media) ? manifest.media.length : manifest.media.files;
    const share = leastMedia / Math.max(leastMedia, media);
    await checkRestorable(source, () => Math.random() < share);
    const scratch = path.join(folder, 'backup');
    await withThrowaway(scratch, { log, signal }, (dataDir) =>
      inServer(dataDir, { log, signal }, async (connection) =>
        withBackupClient(connection, (client) => restoreDatabase(source, connection, client, log)),
      ),
    );
    const moment = await recoverNewest(repository, { folder, log, signal });
    const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0);
    return { backup: id, rows, mediaFiles: media, moment };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function recoverNewest(
  repository: Repository,
  { folder, log, signal }: DrillOptions,
): Promise<string | null> {
  const base = (await listBases(repository)).at(-1);
  if (base === undefined) return null;
  const archive = await repository.readJson<Archive>(archiveKey(base.system));
  if (archive === null || archive.coveredUntil <= base.completedAt) return null;
  const plan = await planRecovery(repository, new Date(archive.coveredUntil));
  const scratch = path.join(folder, 'moment');
  await withThrowaway(scratch, { log, signal }, async (dataDir) => {
    await recoverDatabase(plan, repository, dataDir, log, signal);
    await inServer(dataDir, { log, signal }, (connection) =>
      withBackupClient(connection, async (client) => {
        // Reads every table, so that the checksum of each page is verified.
        const { rows } = await client.query<{ name: string }>(
          `select format('%I', relname) as name from pg_class
           where relnamespace = 'public'::regnamespace and relkind = 'r'`,
        );
        for (const { name } of rows) await client.query(`select count(*) from ${name}`);
      }),
    );
  });
  return archive.coveredUntil;
}

type Run = { log: Logger; signal: AbortSignal };

async function withThrowaway(
  folder: string,
  { signal }: Run,
  work: (dataDir: DataDirectory) => Promise<void>,
): Promise<void> {
  await using dataDir = await claimDataDirectory(folder, signal);
  await work(dataDir);
}

async function inServer(
  dataDir: DataDirectory,
  { log, signal }: Run,
  work: (connection: Parameters<typeof withBackupClient>[0]) => Promise<void>,
): Promise<void> {
  await using postgres = await startEmbeddedPostgres({
    dataDir,
    log,
    signal,
    durabilityChecked: false,
    settings: { fsync: false },
  });
  await work(postgres.connection);
}
