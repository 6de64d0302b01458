import assert from 'node:assert/strict';
import { chown, lstat, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { EmbeddedPostgresError } from './embedded-postgres-error.ts';
import { isRoot, query, serverProcesses, temporaryFolder, withPostgres } from './testing.ts';

describe('starting', () => {
  it('makes a durable database, keeps its data, and leaves no process', async () => {
    await using folder = await temporaryFolder();
    // Spaces, other scripts, and characters with a special meaning in a list of socket folders.
    const path = join(folder.path, 'my "videos", Große 視頻');
    await withPostgres(path, async (postgres) => {
      assert.match(postgres.version, /^18\./);
      assert.deepEqual(
        await query(
          postgres.connection,
          'create table kept (id int)',
          'insert into kept values (7) returning id',
          'show fsync',
          'show synchronous_commit',
          'show full_page_writes',
          'show data_checksums',
          'show server_encoding',
          'select datlocale from pg_database where datname = current_database()',
          'show listen_addresses',
          'select rolsuper from pg_roles where rolname = current_user',
        ),
        [undefined, 7, 'on', 'on', 'on', 'on', 'UTF8', 'C.UTF-8', '', false],
      );
      assert.equal((await stat(join(path, 'postgres.password'))).mode & 0o777, 0o600);
      assert.equal((await stat(postgres.connection.host)).mode & 0o777, 0o700);
    });
    assert.deepEqual(await serverProcesses(path), []);
    await withPostgres(path, async ({ connection }) => {
      assert.deepEqual(await query(connection, 'select id from kept'), [7]);
    });
  });

  it('rejects connections without the password', async () => {
    await using folder = await temporaryFolder();
    await withPostgres(folder.path, async ({ connection, superuserConnection }) => {
      for (const right of [connection, superuserConnection]) {
        await assert.rejects(query({ ...right, password: 'guess' }, 'select 1'), { code: '28P01' });
      }
      assert.deepEqual(await query(superuserConnection, 'show is_superuser'), ['on']);
    });
  });

  it('keeps the socket in a private temporary folder where its path would be too long', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'a'.repeat(60), 'b'.repeat(60));
    const host = await withPostgres(path, async ({ connection }) => {
      assert.deepEqual(await query(connection, 'select 1'), [1]);
      const found = await lstat(connection.host);
      assert.equal(found.mode & 0o777, 0o700);
      assert.ok(!connection.host.startsWith(path));
      return connection.host;
    });
    if (isRoot) {
      // Another user could listen there on their own socket.
      await chown(host, 4_321, 4_321);
      await assert.rejects(
        withPostgres(path, async () => undefined),
        /belongs to user 4321/,
      );
    }
    await rm(host, { recursive: true, force: true });
  });

  it('sets a new password if the file was lost', async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, 'postgres.password');
    await withPostgres(folder.path, ({ connection }) => query(connection, 'create table kept ()'));
    const lost = await readFile(file, 'utf8');
    await rm(file);
    await withPostgres(folder.path, async ({ connection }) => {
      assert.notEqual(connection.password, lost.trim());
      assert.deepEqual(await query(connection, 'select count(*)::int from kept'), [0]);
    });
    await writeFile(file, 'wrong\n');
    await assert.rejects(
      withPostgres(folder.path, async () => undefined),
      /does not accept the password/,
    );
    assert.deepEqual(await serverProcesses(folder.path), []);
  });

  it('stops cleanly wherever the start is aborted, and the next start works', async () => {
    await using folder = await temporaryFolder();
    for (const afterMs of [5, 100, 300, 550, 620]) {
      const aborted = withPostgres(folder.path, async () => 'started', {
        signal: AbortSignal.timeout(afterMs),
      });
      // A fast machine may finish before the late aborts.
      await aborted.catch((error: unknown) => {
        assert.ok(error instanceof DOMException, String(error));
      });
      assert.deepEqual(await serverProcesses(folder.path), []);
      const left = (await readdir(folder.path)).filter((entry) => entry.includes('new-'));
      assert.deepEqual(left, [], `after ${afterMs} ms`);
    }
    await withPostgres(folder.path, ({ connection }) => query(connection, 'select 1'));
  });
});

describe('refusing to start', () => {
  it('names both versions if another major version created the cluster', async () => {
    await using folder = await temporaryFolder();
    await mkdir(join(folder.path, 'postgres'), { mode: 0o700 });
    await writeFile(join(folder.path, 'postgres', 'PG_VERSION'), '17\n');
    await assert.rejects(
      withPostgres(folder.path, async () => undefined),
      (error: unknown) => {
        assert.ok(error instanceof EmbeddedPostgresError);
        assert.match(
          error.message,
          /created by PostgreSQL 17, but this release includes PostgreSQL 18/,
        );
        return true;
      },
    );
  });

  it('does not run on settings that could lose a commit, unless the data is throwaway', async () => {
    await using folder = await temporaryFolder();
    const settings = { fsync: false };
    await assert.rejects(
      withPostgres(folder.path, async () => undefined, { settings }),
      /fsync is off instead of on/,
    );
    await withPostgres(
      folder.path,
      async ({ connection }) => {
        assert.deepEqual(await query(connection, 'show fsync'), ['off']);
        await query(connection, 'alter role reelfeed set synchronous_commit = off');
      },
      { settings, durabilityChecked: false },
    );
    await assert.rejects(
      withPostgres(folder.path, async () => undefined),
      /synchronous_commit is off instead of on/,
    );
    assert.deepEqual(await serverProcesses(folder.path), []);
  });

  it("shows the server's own words", async () => {
    await using folder = await temporaryFolder();
    await assert.rejects(
      withPostgres(folder.path, async () => undefined, { settings: { shared_buffers: 'plenty' } }),
      /did not start: it ended with exit code 1[^]*invalid value for parameter "shared_buffers"/,
    );
  });
});
