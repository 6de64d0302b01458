/**
 * Moves the embedded database to this release's major version of PostgreSQL: the rows are copied
 * from the old server to a new one beside it, and the folders are swapped.
 *
 *   old ──copy──▶ copied ──old set aside──▶ apart ──new in place──▶ upgraded
 *
 * | state    | `postgres` | `postgres-upgraded` | `postgres-old-<major>` |
 * |----------|------------|---------------------|------------------------|
 * | old      | old        |                     |                        |
 * | copied   | old        | new                 |                        |
 * | apart    |            | new                 | old                    |
 * | upgraded | new        |                     | old                    |
 *
 * Invariants: (1) the old cluster is complete in every state, and so is a folder named
 * `postgres-upgraded`; (2) each state differs from the previous one by a single rename, so a crash
 * leaves one of them; (3) from `old` and `copied` the upgrade starts over, because the old release
 * may have written since; `apart` can only be completed, and no service starts in it; (4) only
 * `removeOldClusters` removes the old cluster.
 */
import { readdir, readFile, rename, rm, stat, statfs, copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { claimDataDirectory, type DataDirectory } from '../data-directory/data-directory.ts';
import { COPY_PREFIX } from '../postgres/binaries.ts';
import { CLUSTER_FOLDER, clusterMajor, UPGRADED_FOLDER } from '../postgres/cluster.ts';
import { startEmbeddedPostgres } from '../postgres/embedded-postgres.ts';
import { clearLeftovers } from '../postgres/leftovers.ts';
import { PASSWORD_FILE } from '../postgres/password.ts';
import { socketFolderOf } from '../postgres/socket-folder.ts';
import { ConfigurationError } from '../settings/settings.ts';
import { makeFolder, sync } from '../storage/durable.ts';
import { copyDatabase, type CopiedDatabase } from './copy-database.ts';
import { startOldServer } from './old-server.ts';

/**
 * Temporary files, which are removed at the end. The next upgrade removes leftovers of a killed
 * one.
 */
const WORK_FOLDER = 'upgrade';
const OLD_PREFIX = 'postgres-old-';
/**
 * In addition to the rows, a new cluster contains its catalogues and its log, which grows up to
 * `max_wal_size`.
 */
const spareBytes = 128 * 2 ** 20;
const maxLogBytes = 2 ** 30;

export type UpgradeStep = 'old server runs' | 'new cluster made' | 'copied' | 'apart' | 'upgraded';

export type UpgradeOptions = {
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Finds the programs of a major version; may use the folder, which is empty. */
  readonly findPrograms: (major: string, folder: string) => Promise<string>;
  readonly onStep?: (step: UpgradeStep) => void;
};

/** @property copied null if an interrupted upgrade had already copied all rows */
export type Upgrade = { readonly from: string; readonly copied: CopiedDatabase | null };

/**
 * @param ownMajor the major version of this release's programs
 * @returns what was done, or null if the database already has that version
 * @throws ConfigurationError if there is nothing to upgrade, or not enough space
 */
export async function upgradeDatabase(
  dataDir: DataDirectory,
  ownMajor: string,
  options: UpgradeOptions,
): Promise<Upgrade | null> {
  const { onStep = () => undefined } = options;
  const folder = join(dataDir.path, CLUSTER_FOLDER);
  const major = await clusterMajor(folder);
  let copied: CopiedDatabase | null = null;
  if (major === ownMajor) {
    await removeWork(dataDir, options);
    return null;
  }
  if (major !== undefined) {
    await checkUpgradable(dataDir, major, ownMajor);
    await removeWork(dataDir, options);
    await rm(join(dataDir.path, UPGRADED_FOLDER), { recursive: true, force: true });
    copied = await copyToNewCluster(dataDir, major, options);
    onStep('copied');
    await rename(folder, join(dataDir.path, `${OLD_PREFIX}${major}`));
    await sync(dataDir.path);
    onStep('apart');
  } else if ((await clusterMajor(join(dataDir.path, UPGRADED_FOLDER))) === undefined) {
    throw new ConfigurationError(`There is no database in ${dataDir.path} to upgrade.`);
  }
  await rename(join(dataDir.path, UPGRADED_FOLDER), folder);
  await sync(dataDir.path);
  onStep('upgraded');
  await removeWork(dataDir, options);
  const from = major ?? (await listOldClusters(dataDir.path)).at(-1)?.slice(OLD_PREFIX.length);
  return { from: from ?? 'unknown', copied };
}

/** The names of the folders that contain clusters of older versions. */
export async function listOldClusters(dataDirectory: string): Promise<string[]> {
  const names = (await readdir(dataDirectory)).filter((name) => name.startsWith(OLD_PREFIX));
  return names.toSorted((one, other) => one.localeCompare(other, 'en', { numeric: true }));
}

/**
 * Removes the clusters of older versions, if a newer one is in their place.
 *
 * @returns the names of their folders
 */
export async function removeOldClusters(dataDir: DataDirectory): Promise<string[]> {
  if ((await clusterMajor(join(dataDir.path, CLUSTER_FOLDER))) === undefined) {
    throw new ConfigurationError(
      'The upgrade is not complete: run `npx reelfeed upgrade-database`.',
    );
  }
  const names = await listOldClusters(dataDir.path);
  for (const name of names) await rm(join(dataDir.path, name), { recursive: true });
  return names;
}

async function checkUpgradable(
  { path }: DataDirectory,
  major: string,
  ownMajor: string,
): Promise<void> {
  if (Number(major) > Number(ownMajor)) {
    throw new ConfigurationError(
      `The database uses PostgreSQL ${major}, but this release includes the older ${ownMajor}: ` +
        'use the release that created it, or a newer one.',
    );
  }
  const old = join(path, `${OLD_PREFIX}${major}`);
  if ((await stat(old).catch(() => null)) !== null) {
    throw new ConfigurationError(
      `${old} is left over from an earlier upgrade. Remove it with \`npx reelfeed upgrade-database --remove-old\`.`,
    );
  }
  await readFile(join(path, PASSWORD_FILE)).catch((error: unknown) => {
    const reason = `The database cannot be read without the file ${join(path, PASSWORD_FILE)}.`;
    throw new ConfigurationError(reason, { cause: error });
  });
  const sizeBytes = await bytesIn(join(path, CLUSTER_FOLDER));
  const neededBytes = sizeBytes + Math.min(sizeBytes, maxLogBytes) + spareBytes;
  const { bavail, bsize } = await statfs(path);
  if (bavail * bsize >= neededBytes) return;
  throw new ConfigurationError(
    `The upgrade requires ${megabytes(neededBytes)} of free disk space in addition to the old database, but ` +
      `${path} has only ${megabytes(bavail * bsize)}.`,
  );
}

async function copyToNewCluster(
  dataDir: DataDirectory,
  major: string,
  { log, signal, findPrograms, onStep = () => undefined }: UpgradeOptions,
): Promise<CopiedDatabase> {
  const work = join(dataDir.path, WORK_FOLDER);
  await makeFolder(work);
  const programs = await findPrograms(major, join(work, 'programs'));
  let copied: CopiedDatabase;
  {
    await using old = await startOldServer(dataDir, programs, { log, signal });
    onStep('old server runs');
    await using newDir = await claimDataDirectory(join(work, 'data'), signal);
    // Both clusters share one password, so that the folders can be swapped.
    await copyFile(join(dataDir.path, PASSWORD_FILE), join(newDir.path, PASSWORD_FILE));
    await using server = await startEmbeddedPostgres({ dataDir: newDir, log, signal });
    onStep('new cluster made');
    copied = await copyDatabase(old.connection, server.connection, log);
  }
  await rename(join(work, 'data', CLUSTER_FOLDER), join(dataDir.path, UPGRADED_FOLDER));
  await sync(dataDir.path);
  return copied;
}

/**
 * Stops processes that a killed upgrade left running, and removes its files and private copies of
 * programs.
 */
async function removeWork({ path }: DataDirectory, { log, signal }: UpgradeOptions): Promise<void> {
  const work = join(path, WORK_FOLDER);
  for (const data of [path, join(work, 'data')]) {
    await clearLeftovers(join(data, CLUSTER_FOLDER), socketFolderOf(data), log, signal);
  }
  await rm(work, { recursive: true, force: true });
  for (const name of await readdir(path)) {
    if (name.startsWith(COPY_PREFIX)) await rm(join(path, name), { recursive: true });
  }
}

async function bytesIn(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const { blocks } = await stat(join(entry.parentPath, entry.name));
    bytes += blocks * 512;
  }
  return bytes;
}

const megabytes = (bytes: number) => `${Math.ceil(bytes / 2 ** 20)} MB`;
