/** Proves that the embedded database can be restored to a point in time from a repository. */
import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import type { Client } from 'pg';
import { claimDataDirectory } from '../../data-directory/data-directory.ts';
import { withSession } from '../../database/session.ts';
import { query, silentLog, temporaryFolder, withPostgres } from '../../postgres/testing.ts';
import { ConfigurationError } from '../../settings/settings.ts';
import { openDiskStorage } from '../../storage/disk-storage.ts';
import { openRepository } from '../repository.ts';
import { archivePass } from './archiver.ts';
import { takeBase } from './base.ts';
import { listBases, pruneRecovery, segmentName, segmentNumber, walKey } from './chain.ts';
import { endRecovery, planRecovery, recoverDatabase } from './recover.ts';

const { signal } = new AbortController();
const session = { applicationName: 'test', unlimited: [] };

test('segments have the names that PostgreSQL gives them', () => {
  const size = 16 * 2 ** 20;
  assert.equal(segmentName(1, 0x16b3748n, size), '000000010000000000000001');
  assert.equal(segmentName(3, 0x2_fe00_0010n, size), '0000000300000002000000FE');
  assert.equal(segmentNumber('0000000300000002000000FE', size), 0x2fen);
});

test('the moment before a bad delete is restored, once more after a cut, and other moments are refused', async () => {
  await using folder = await temporaryFolder();
  const storage = await openDiskStorage(path.join(folder.path, 'place'));
  const passphrase = 'a passphrase of a test';
  const repository = await openRepository(storage, { place: 'x', passphrase, create: true });
  let before = new Date();
  let last = before;
  await withPostgres(path.join(folder.path, 'original'), async (postgres) => {
    const run = (...statements: string[]) => query(postgres.connection, ...statements);
    await run('create table item (id int, note text)', 'create table tick (at timestamptz)');
    const commit = async () =>
      (await run('insert into tick values (clock_timestamp()) returning at'))[0] as Date;
    await withSession(postgres.superuserConnection, session, async (client: Client) => {
      const pass = () => archivePass(client, postgres.folder, repository, commit);
      assert.equal((await pass()).isNew, true);
      await run(`insert into item select n, repeat('kept', 100) from generate_series(1, 5000) n`);
      await takeBase(client, postgres.folder, repository, { version: '1', archive: pass, signal });
      // Writes more than one log segment, in two passes.
      await run(`insert into item select n, repeat('x', 1000) from generate_series(5001, 25000) n`);
      await run('checkpoint');
      assert.ok((await pass()).segments >= 1);
      before = await commit();
      await run('delete from item where id > 10', 'checkpoint');
      last = (await pass()).coveredUntil === '' ? before : await commit();
      const [kept] = await query(
        postgres.superuserConnection,
        `select pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)::int from pg_replication_slots`,
      );
      assert.ok(Number(kept) <= 16 * 2 ** 20, `${String(kept)} bytes are kept`);
      last = new Date((await pass()).coveredUntil);
    });
  });

  const plan = await planRecovery(repository, new Date(before.getTime() + 1));
  const target = path.join(folder.path, 'restored');
  {
    await using dataDir = await claimDataDirectory(target);
    const stop = new AbortController();
    stop.abort(new Error('cut'));
    await assert.rejects(recoverDatabase(plan, repository, dataDir, silentLog, stop.signal), /cut/);
    await recoverDatabase(plan, repository, dataDir, silentLog, signal);
    await endRecovery(dataDir);
    await assert.rejects(
      recoverDatabase(plan, repository, dataDir, silentLog, signal),
      /is not empty/,
    );
  }
  await withPostgres(target, async ({ connection, superuserConnection, folder: cluster }) => {
    assert.deepEqual(await query(connection, 'select count(*)::int from item'), [25_000]);
    await query(connection, 'insert into item values (0, null)');
    // The restored server starts a new log, which is archived from the beginning.
    const done = await withSession(superuserConnection, session, (client) =>
      archivePass(client, cluster, repository, async () => new Date()),
    );
    assert.deepEqual([done.isNew, done.timeline], [true, 2]);
  });

  const refusals = [new Date(0), new Date(Date.now() + 60_000)];
  for (const to of refusals) await assert.rejects(planRecovery(repository, to), ConfigurationError);
  const [base] = await listBases(repository);
  assert.ok(base !== undefined && last > before);
  await storage.remove(walKey(base.system, base.firstSegment));
  await assert.rejects(planRecovery(repository, plan.to), /is incomplete/);
  await pruneRecovery(repository, 0, Date.now());
  assert.deepEqual(await listBases(repository), []);
  await writeFile(path.join(folder.path, 'done'), '');
  await rm(target, { recursive: true });
});
