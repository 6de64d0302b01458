import assert from 'node:assert/strict';
import { chmod, chown, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { runProgram } from './run-program.ts';
import {
  endProcess,
  isRoot,
  ORDINARY_UID,
  query,
  serverProcesses,
  startServiceProcess,
  temporaryFolder,
  withPostgres,
} from './testing.ts';

describe('accounts', () => {
  const skip = isRoot ? false : 'needs root, to start processes as other users';

  it('runs for an ordinary user', { skip }, async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'data');
    await mkdir(path, { mode: 0o700 });
    await chown(folder.path, ORDINARY_UID, ORDINARY_UID);
    await chown(path, ORDINARY_UID, ORDINARY_UID);
    for (let round = 0; round < 2; round++) {
      await using service = await startServiceProcess(path, { uid: ORDINARY_UID });
      assert.deepEqual(await query(service.connection, 'select 1'), [1]);
      await endProcess(service.child, 'SIGTERM');
      assert.deepEqual(await serverProcesses(path), []);
    }
    assert.equal((await stat(join(path, 'postgres'))).uid, ORDINARY_UID);
    // Root then serves the same directory without taking ownership of it.
    await withPostgres(path, async ({ connection, pid }) => {
      assert.deepEqual(await query(connection, 'select 1'), [1]);
      assert.equal((await stat(`/proc/${pid}`)).uid, ORDINARY_UID);
    });
    await using service = await startServiceProcess(path, { uid: ORDINARY_UID });
    await endProcess(service.child, 'SIGTERM');
  });

  it('runs for root in a closed home, without a second account', { skip }, async () => {
    await using folder = await temporaryFolder();
    await mkdir(join(folder.path, 'home'), { mode: 0o700 });
    const path = join(folder.path, 'home', 'data');
    await withPostgres(path, ({ connection }) => query(connection, 'create table kept ()'));
    await withPostgres(path, ({ connection }) => query(connection, 'select 1 from kept'));
  });

  it('runs for root without namespaces, under an unprivileged user', { skip }, async (test) => {
    await using folder = await temporaryFolder();
    // A mount that only the started service sees replaces the real unshare with one that fails.
    const refusing = join(folder.path, 'unshare');
    const refusal = 'echo unshare: unshare failed: Operation not permitted >&2; exit 1';
    await writeFile(refusing, `#!/bin/sh\n${refusal}\n`, { mode: 0o755 });
    const script = 'mount --bind "$1" "$(command -v unshare)" || exit 77; shift; exec "$@"';
    const command = ['unshare', '--mount', 'sh', '-c', script, 'sh', refusing];
    const probe = await runProgram(
      { file: 'unshare', args: [...command.slice(1), 'true'] },
      { timeoutMs: 10_000 },
    );
    if (probe.exitCode !== 0) return test.skip('needs the right to make mounts');

    const path = join(folder.path, 'data');
    await withPostgres(path, ({ connection }) => query(connection, 'create table kept ()'));
    // Handing the cluster over is pointless if the user can't reach it.
    await assert.rejects(
      startServiceProcess(path, { command }),
      /the folder .* is not accessible to that user/,
    );
    assert.equal((await stat(join(path, 'postgres'))).uid, 0);
    await chmod(folder.path, 0o711);
    for (let round = 0; round < 2; round++) {
      await using service = await startServiceProcess(path, { command });
      assert.deepEqual(await query(service.connection, 'select count(*)::int from kept'), [0]);
      assert.notEqual((await stat(`/proc/${service.serverPid}`)).uid, 0);
    }
    assert.equal((await stat(path)).mode & 0o777, 0o710);
  });

  it('says who owns the cluster when it belongs to someone else', { skip }, async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'data');
    await withPostgres(path, async () => undefined, { durabilityChecked: false });
    await chown(folder.path, ORDINARY_UID, ORDINARY_UID);
    await chown(path, ORDINARY_UID, ORDINARY_UID);
    await rm(join(path, 'owner.lock'));
    await chown(join(path, 'postgres.password'), ORDINARY_UID, ORDINARY_UID);
    await assert.rejects(
      startServiceProcess(path, { uid: ORDINARY_UID }),
      /belongs to user 0|EACCES/,
    );
  });
});
