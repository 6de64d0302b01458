import assert from 'node:assert/strict';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import {
  endProcess,
  query,
  serverProcesses,
  startServiceProcess,
  temporaryFolder,
  withPostgres,
} from './testing.ts';
import { stays, until } from '../../../test/waiting.ts';

describe('after a crash', () => {
  it('replaces the server of a killed service, also a paused one, and keeps its data', async () => {
    await using folder = await temporaryFolder();
    for (const pause of [false, true]) {
      await using service = await startServiceProcess(folder.path);
      await query(service.connection, 'create table if not exists kept (id int)');
      await query(service.connection, 'insert into kept values (1)');
      await endProcess(service.child, 'SIGKILL');
      assert.ok((await serverProcesses(folder.path)).includes(service.serverPid));
      if (pause) process.kill(service.serverPid, 'SIGSTOP');
      await withPostgres(folder.path, async ({ connection, pid }) => {
        assert.notEqual(pid, service.serverPid);
        assert.ok(!(await serverProcesses(folder.path)).includes(service.serverPid));
        const expected = pause ? 2 : 1;
        assert.deepEqual(await query(connection, 'select count(*)::int from kept'), [expected]);
      });
    }
  });

  it('recovers when service and server were killed, even if the pid was given away', async () => {
    await using folder = await temporaryFolder();
    await using service = await startServiceProcess(folder.path);
    await query(service.connection, 'create table kept (id int)', 'insert into kept values (1)');
    await using bystander = await startServiceProcess(join(folder.path, 'other'));
    await endProcess(service.child, 'SIGKILL');
    for (const pid of await serverProcesses(folder.path)) process.kill(pid, 'SIGKILL');
    const file = join(folder.path, 'postgres', 'postmaster.pid');
    const lock = await readFile(file, 'utf8');
    // The worst case of a recycled pid: it belongs to a PostgreSQL server of another directory.
    await writeFile(file, lock.replace(/^\d+/, String(bystander.serverPid)));
    await withPostgres(folder.path, async ({ connection }) => {
      assert.deepEqual(await query(connection, 'select id from kept'), [1]);
    });
    assert.deepEqual(await query(bystander.connection, 'select 1'), [1]);
  });

  it('restarts a server that a stray SIGTERM made wait for its last connection', async () => {
    await using folder = await temporaryFolder();
    await withPostgres(folder.path, async (postgres) => {
      const { connection, pid } = postgres;
      assert.ok(pid);
      const held = assert.rejects(query(connection, 'select pg_sleep(60)'));
      const sleeping = () =>
        query(
          connection,
          `select count(*)::int from pg_stat_activity where query = 'select pg_sleep(60)'`,
        );
      await until('the query to run', sleeping, ([count]) => count === 1);
      process.kill(pid, 'SIGTERM');
      const termAtMs = performance.now();
      await until(
        'the restart',
        () => postgres.pid,
        (now) => now !== pid && now !== undefined,
      );
      assert.ok(performance.now() - termAtMs < 15_000);
      assert.deepEqual(await query(connection, 'select 1'), [1]);
      await held;
    });
  });

  it('starts a killed server again at once, although old backends are still busy', async () => {
    await using folder = await temporaryFolder();
    await withPostgres(folder.path, async (postgres) => {
      const { connection, pid } = postgres;
      assert.ok(pid);
      await query(connection, 'create table kept (id int)', 'insert into kept values (1)');
      // This session is busy computing, so it doesn't notice that its server is gone.
      const busy = query(
        connection,
        'select count(*) from (select generate_series(1, 1000000000000)) as numbers',
      );
      const busyEnd = assert.rejects(busy);
      const active = () =>
        query(
          connection,
          `select count(*)::int from pg_stat_activity where query like '%generate_series(1, 1%' and pid <> pg_backend_pid()`,
        );
      await until('the query to run', active, ([count]) => count === 1);
      const killedAtMs = performance.now();
      process.kill(pid, 'SIGKILL');
      await until(
        'the end to be noticed',
        () => postgres.pid,
        (now) => now !== pid,
      );
      assert.ok(performance.now() - killedAtMs < 1_000, 'notices within a second');
      await until(
        'the restart',
        () => postgres.pid,
        (now) => now !== undefined,
      );
      assert.ok(performance.now() - killedAtMs < 15_000, 'is back while the old one computes');
      assert.deepEqual(await query(connection, 'select id from kept'), [1]);
      await busyEnd;
    });
    assert.deepEqual(await serverProcesses(folder.path), []);
  });

  it('keeps trying while the server cannot start, and can be stopped meanwhile', async () => {
    await using folder = await temporaryFolder();
    const control = join(folder.path, 'postgres', 'global', 'pg_control');
    await withPostgres(folder.path, async (postgres) => {
      const content = await readFile(control);
      await writeFile(control, '');
      for (const pid of await serverProcesses(folder.path)) process.kill(pid, 'SIGKILL');
      await until(
        'the end to be noticed',
        () => postgres.pid,
        (now) => now === undefined,
      );
      await stays('the server', () => postgres.pid, undefined, 700);
      await writeFile(control, content);
      await until(
        'the restart',
        () => postgres.pid,
        (now) => now !== undefined,
      );
      assert.deepEqual(await query(postgres.connection, 'select 1'), [1]);
      await rm(control);
      for (const pid of await serverProcesses(folder.path)) process.kill(pid, 'SIGKILL');
      await until(
        'the end to be noticed',
        () => postgres.pid,
        (now) => now === undefined,
      );
    });
    assert.deepEqual(await serverProcesses(folder.path), []);
  });
});
