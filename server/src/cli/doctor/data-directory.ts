/** Checks of `reelfeed doctor` in the data directory, including leftovers of killed processes. */
import { access, chmod, constants, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../../app/config.ts';
import {
  claimDataDirectory,
  DataDirectoryError,
} from '../../platform/data-directory/data-directory.ts';
import type { Finding, Fix } from '../../platform/feature/finding.ts';
import { Scratch, staleEntries } from '../../platform/storage/scratch.ts';
import { dayMs } from '../../platform/values/time.ts';

/** File mode bits. */
const writableByOthers = 0o002;
const anythingByOthers = 0o007;

const secretFiles = ['encryption.key', 'postgres.password'];

export async function examineDataDirectory(config: Config): Promise<Finding[]> {
  const subject = 'Data directory';
  const { dataDir } = config;
  const found = await stat(dataDir).catch(() => null);
  if (found === null) {
    return [{ subject, state: 'note', detail: `${dataDir} will be created at the first start` }];
  }
  await access(dataDir, constants.R_OK | constants.W_OK);
  const findings: Finding[] = [];
  if ((found.mode & writableByOthers) !== 0) {
    findings.push({
      subject,
      state: 'problem',
      detail: `${dataDir} is writable by every user of this machine`,
      mend: `Run chmod o-w ${dataDir}`,
      fix: closedToOthers(dataDir, writableByOthers, `chmod o-w ${dataDir}`),
    });
  }
  for (const name of secretFiles) {
    const file = path.join(dataDir, name);
    const mode = (await stat(file).catch(() => null))?.mode ?? 0;
    if ((mode & anythingByOthers) === 0) continue;
    findings.push({
      subject,
      state: 'problem',
      detail: `${file} is accessible to every user of this machine`,
      mend: `Run chmod o-rwx ${file}`,
      fix: closedToOthers(file, anythingByOthers, `chmod o-rwx ${file}`),
    });
  }
  if (findings.length > 0) return findings;
  const isInUse = config.databaseUrl === null && (await hasOwner(dataDir));
  const use = isInUse ? 'in use by a running service' : 'not in use';
  return [{ subject, state: 'ok', detail: `${dataDir}, ${use}` }];
}

function closedToOthers(file: string, bits: number, action: string): Fix {
  const apply = async () => chmod(file, (await stat(file)).mode & 0o7777 & ~bits);
  return { action, apply };
}

/**
 * Unfinished files of processes that have ended. Only files untouched for a day count, because
 * other processes may share the folders. A running service clears them by itself.
 */
export async function examineLeftovers({ dataDir, databaseUrl }: Config): Promise<Finding[]> {
  const subject = 'Leftovers';
  if (!(await isThere(dataDir))) return [];
  if (databaseUrl === null && (await hasOwner(dataDir))) return [];
  const findings: Finding[] = [];
  for (const name of ['media/work', 'media/trash', 'backup-work']) {
    const folder = path.join(dataDir, name);
    if (!(await isThere(folder))) continue;
    const { length } = await Array.fromAsync(staleEntries(folder, dayMs));
    if (length === 0) continue;
    findings.push({
      subject,
      state: 'note',
      detail: `${length} unfinished or removed files in ${folder} are older than a day`,
      fix: {
        action: `remove leftover files (${length}) from ${folder}`,
        apply: () => new Scratch(folder).cleanUp(dayMs),
      },
    });
  }
  const drill = path.join(dataDir, 'drill');
  // With an external database, there is no way to tell whether another process is running a drill.
  if (databaseUrl === null && (await isThere(drill))) {
    findings.push({
      subject,
      state: 'note',
      detail: `${drill} was left by an interrupted restore drill`,
      fix: {
        action: `remove the throwaway database in ${drill}`,
        apply: async () => {
          // Claims the directory, so that no service starts a drill at the same time.
          await using _owner = await claimDataDirectory(dataDir, undefined, 0);
          await rm(drill, { recursive: true, force: true });
        },
      },
    });
  }
  if (findings.length > 0) return findings;
  return [{ subject, state: 'ok', detail: 'no leftover files older than a day' }];
}

async function hasOwner(dataDir: string): Promise<boolean> {
  try {
    await using _claim = await claimDataDirectory(dataDir, undefined, 0);
    return false;
  } catch (error) {
    if (error instanceof DataDirectoryError) return true;
    throw error;
  }
}

async function isThere(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  );
}
