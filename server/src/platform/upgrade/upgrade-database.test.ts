/** Proves that an upgrade to a newer PostgreSQL loses nothing, even if it is killed at any step. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { isFullScale } from '../../../test/scale.ts';
import { claimDataDirectory } from '../data-directory/data-directory.ts';
import { migrate } from '../database/migrate.ts';
import { query, silentLog, temporaryFolder, withPostgres } from '../postgres/testing.ts';
import { startOldServer } from './old-server.ts';
import { installedPrograms, makeOldCluster, skipWithoutPrograms } from './testing.ts';
import { listOldClusters, upgradeDatabase, type UpgradeStep } from './upgrade-database.ts';

const skip = skipWithoutPrograms;
const programs = installedPrograms ?? '';
const { signal } = new AbortController();
const findPrograms = async () => programs;
const options = { log: silentLog, signal, findPrograms };

const countOrganizations = 'select count(*)::int from organization';
const addOrganization = (name: string) =>
  `insert into organization (organization_id, name) values ('org_${name}', 'Ünïcode 🎬 ${name}')`;

/** A data directory whose database was created by an older PostgreSQL. */
async function oldInstallation(path: string): Promise<void> {
  await using dataDir = await claimDataDirectory(path);
  await using server = await makeOldCluster(dataDir, programs);
  await migrate(server.connection, silentLog);
  await query(server.connection, addOrganization('first'));
}

async function upgrade(path: string) {
  await using dataDir = await claimDataDirectory(path);
  return await upgradeDatabase(dataDir, '18', options);
}

async function killAt(path: string, step: UpgradeStep): Promise<void> {
  const fixture = join(import.meta.dirname, 'upgrade.fixture.ts');
  const child = spawn(process.execPath, [fixture, path, programs, step], { stdio: 'inherit' });
  await once(child, 'exit');
  assert.equal(child.signalCode, 'SIGKILL', step);
}

const steps: UpgradeStep[] = isFullScale
  ? ['old server runs', 'new cluster made', 'copied', 'apart', 'upgraded']
  : ['copied', 'apart'];

test(
  'an upgrade killed at each step is completed by the next, with all that was written',
  { skip },
  async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'data');
    for (const step of steps) {
      const data = `${path}-${step.replaceAll(' ', '-')}`;
      await oldInstallation(data);
      await killAt(data, step);
      const isOld = (await readdir(data)).includes('postgres') && step !== 'upgraded';
      let organizations = 1;
      if (isOld) {
        // The previous release may run once more, and its writes must be kept.
        await using dataDir = await claimDataDirectory(data);
        await using server = await startOldServer(dataDir, programs, options);
        await query(server.connection, addOrganization('second'));
        organizations = 2;
      } else if (step === 'apart') {
        // An empty database in place of the old one would look like data loss.
        await assert.rejects(
          withPostgres(data, async () => undefined),
          /was interrupted: run `npx reelfeed upgrade-database`/,
        );
      }
      await upgrade(data);
      assert.deepEqual((await listOldClusters(data)).length, 1, step);
      const left = (await readdir(data)).filter((name) =>
        /^(upgrade|postgres-(up|pro))/.test(name),
      );
      assert.deepEqual(left, [], step);
      await withPostgres(data, async ({ connection, version }) => {
        assert.match(version, /^18\./);
        assert.deepEqual(await query(connection, countOrganizations), [organizations], step);
      });
      assert.equal(await upgrade(data), null, 'nothing is left to do');
    }
  },
);

test(
  'the service names the command, and an upgrade refuses what would end badly',
  { skip },
  async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'data');
    await oldInstallation(path);
    await assert.rejects(
      withPostgres(path, async () => undefined),
      /created by PostgreSQL \d+, but this release includes PostgreSQL 18.*: run `npx reelfeed upgrade-database`\.$/,
    );
    const blocked = join(path, `postgres-old-${programs.split('/').at(-1)}`);
    await mkdir(blocked);
    await assert.rejects(upgrade(path), /is left over from an earlier upgrade\. Remove it/);
    await assert.rejects(
      (async () => {
        await using dataDir = await claimDataDirectory(path);
        return await upgradeDatabase(dataDir, '14', options);
      })(),
      /this release includes the older 14/,
    );
    await assert.rejects(
      upgrade(join(folder.path, 'empty')),
      /There is no database in .* to upgrade/,
    );
    await writeFile(join(blocked, 'kept'), '');
  },
);

test(
  'a cluster of a first start that was cut short becomes an empty database',
  { skip },
  async () => {
    await using folder = await temporaryFolder();
    {
      await using dataDir = await claimDataDirectory(folder.path);
      await using _server = await makeOldCluster(dataDir, programs);
    }
    assert.equal((await upgrade(folder.path))?.copied?.rows, 0);
    await withPostgres(folder.path, ({ connection }) => migrate(connection, silentLog));
  },
);
