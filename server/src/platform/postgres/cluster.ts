/** Opens PostgreSQL's own folder inside the data directory, under an account that can run it. */
import { chmod, chown, readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  type Account,
  accountsForNewCluster,
  accountsForOwner,
  describeAccount,
  processUid,
} from './account.ts';
import { type Binaries, findNativeFolder, usableBinaries } from './binaries.ts';
import { type ClusterOptions, createCluster } from './create-cluster.ts';
import { EmbeddedPostgresError } from './embedded-postgres-error.ts';

/** The account, programs and folder that the server runs with. */
export type Cluster = {
  readonly folder: string;
  readonly account: Account;
  readonly binaries: Binaries;
  /** True if this start created it. */
  readonly isNew: boolean;
};

export const CLUSTER_FOLDER = 'postgres';
/** A complete cluster with which `reelfeed upgrade-database` is about to replace the older one. */
export const UPGRADED_FOLDER = 'postgres-upgraded';
const MEND =
  'Start the service as an ordinary user that owns the data directory, or set DATABASE_URL to a ' +
  'PostgreSQL server of your own.';

/**
 * Opens the cluster of the data directory, or creates it.
 *
 * @param options.nativeFolder the programs to use; default: those of the installed package
 * @throws {EmbeddedPostgresError} if the cluster is of another major version or belongs to another
 * user, or if no account can run it, with the message of each attempt
 */
export async function openCluster(
  options: ClusterOptions & { readonly nativeFolder?: string },
  signal: AbortSignal,
): Promise<Cluster> {
  const { dataDirectory, nativeFolder = findNativeFolder() } = options;
  const folder = join(dataDirectory, CLUSTER_FOLDER);
  const programsFor = async (account: Account): Promise<Binaries> => {
    if (account.kind === 'dropped') {
      await checkReach(dataDirectory, account);
      await letThrough(dataDirectory, account.gid);
    }
    return usableBinaries(account, dataDirectory, nativeFolder, signal);
  };

  const version = await clusterMajor(folder);
  if (version === undefined) {
    await checkNoUpgrade(dataDirectory);
    const accounts = await accountsForNewCluster(dataDirectory);
    return firstThatWorks(accounts, async (account) => {
      const binaries = await programsFor(account);
      await createCluster(folder, { ...options, account, binaries }, signal);
      return { folder, account, binaries, isNew: true };
    });
  }
  const { uid, gid } = await stat(folder);
  const accounts = await accountsForOwner(uid, gid);
  if (accounts.length === 0) throw wrongOwner(folder, uid);
  const cluster = await firstThatWorks(accounts, async (account) => {
    return { folder, account, binaries: await programsFor(account), isNew: false };
  });
  checkMajor(folder, version, cluster.binaries);
  if (cluster.account.kind === 'dropped' && uid !== cluster.account.uid) {
    await handOver(folder, cluster.account);
  }
  return cluster;
}

/** Tries the accounts in order. Moves on to the next only after a failure caused by the account. */
async function firstThatWorks(
  accounts: readonly Account[],
  attempt: (account: Account) => Promise<Cluster>,
): Promise<Cluster> {
  const failures: string[] = [];
  for (const account of accounts) {
    try {
      return await attempt(account);
    } catch (error) {
      if (!(error instanceof EmbeddedPostgresError)) throw error;
      failures.push(`As ${describeAccount(account)}: ${error.message}`);
    }
  }
  const reason =
    processUid() === 0
      ? 'PostgreSQL refuses to run as root, and all other ways to start it failed.'
      : '';
  throw new EmbeddedPostgresError(
    ['The embedded database cannot run.', reason, ...failures, MEND].filter(Boolean).join('\n'),
  );
}

/**
 * Returns the major version that created a cluster, such as '18', or undefined if there is no
 * cluster.
 */
export async function clusterMajor(folder: string): Promise<string | undefined> {
  const version = await readFile(join(folder, 'PG_VERSION'), 'utf8').catch(missingFile);
  return version?.trim();
}

/** PostgreSQL can't read a cluster of another major version. */
function checkMajor(folder: string, major: string, binaries: Binaries): void {
  if (major === binaries.major) return;
  const isOlder = Number(major) < Number(binaries.major);
  throw new EmbeddedPostgresError(
    `The database in ${folder} was created by PostgreSQL ${major}, but this release includes ` +
      `PostgreSQL ${binaries.version}: ` +
      (isOlder
        ? 'run `npx reelfeed upgrade-database`.'
        : 'start the release that created it, or a newer one.'),
  );
}

/** A new, empty cluster must not replace one whose upgrade was interrupted. */
async function checkNoUpgrade(dataDirectory: string): Promise<void> {
  if ((await clusterMajor(join(dataDirectory, UPGRADED_FOLDER))) === undefined) return;
  throw new EmbeddedPostgresError(
    `An upgrade of the database in ${dataDirectory} was interrupted: run \`npx reelfeed upgrade-database\`.`,
  );
}

/**
 * Finds a folder on the path to the data directory that the account can't traverse, before anything
 * is changed for the account. If root owns the data directory itself, the account gets access to it
 * afterwards.
 */
async function checkReach(
  dataDirectory: string,
  account: { readonly uid: number; readonly gid: number },
): Promise<void> {
  for (let folder = dataDirectory; folder !== dirname(folder); folder = dirname(folder)) {
    const { uid, gid, mode } = await stat(folder);
    if (folder === dataDirectory && uid === 0) continue;
    const passBit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001;
    if (mode & passBit) continue;
    throw new EmbeddedPostgresError(
      `the folder ${folder} is not accessible to that user. Use a data directory that every ` +
        'user can access, such as /var/lib/reelfeed.',
    );
  }
}

/** Lets the unprivileged group traverse the data directory without listing it. */
async function letThrough(dataDirectory: string, gid: number): Promise<void> {
  const found = await stat(dataDirectory);
  if (found.uid !== 0) return;
  await chown(dataDirectory, 0, gid);
  await chmod(dataDirectory, (found.mode & 0o777) | 0o010);
}

/**
 * Gives a cluster owned by root to the unprivileged user if user namespaces are no longer
 * available.
 */
async function handOver(
  folder: string,
  account: { readonly uid: number; readonly gid: number },
): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true })) {
    await chown(join(folder, entry), account.uid, account.gid);
  }
  await chown(folder, account.uid, account.gid);
}

function wrongOwner(folder: string, uid: number): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `The database in ${folder} belongs to user ${uid}, and the service runs as user ` +
      `${processUid()}. Start it as that user, or give the data directory to this one ` +
      `(chown -R ${processUid()} ${dirname(folder)}).`,
  );
}

function missingFile(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
  throw error;
}
