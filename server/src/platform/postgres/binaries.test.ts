import assert from 'node:assert/strict';
import { chmod, cp, lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { findNativeFolder, probeBinaries, usableBinaries } from './binaries.ts';
import { createCluster } from './create-cluster.ts';
import { describeEmbeddedPostgres } from './describe-embedded-postgres.ts';
import { isRoot, ORDINARY_UID, temporaryFolder } from './testing.ts';

const account = isRoot
  ? ({ kind: 'dropped', uid: ORDINARY_UID, gid: ORDINARY_UID } as const)
  : ({ kind: 'own' } as const);

describe('the PostgreSQL programs', () => {
  it('work from a read-only package whose install script was blocked', async () => {
    await using folder = await temporaryFolder();
    await chmod(folder.path, 0o755);
    const native = join(folder.path, 'package', 'native');
    await cp(findNativeFolder(), native, { recursive: true, verbatimSymlinks: true });
    await cp(join(findNativeFolder(), '..', 'package.json'), join(native, '..', 'package.json'));
    for (const entry of await readdir(join(native, 'lib'))) {
      const path = join(native, 'lib', entry);
      if ((await lstat(path)).isSymbolicLink()) await rm(path);
    }
    for (const part of ['lib', 'bin', '.']) await chmod(join(native, part), 0o555);
    const blocked = await probeBinaries(account, native);
    assert.ok('reason' in blocked && blocked.reason.includes('shared libraries'));

    const binaries = await usableBinaries(account, folder.path, native);
    assert.ok(binaries.initdb.startsWith(join(folder.path, 'postgres-programs-')));
    const cluster = join(folder.path, 'cluster');
    const names = { superuser: 'postgres', password: 'test' };
    const options = { ...names, dataDirectory: folder.path, account, binaries, durable: false };
    await createCluster(cluster, options, new AbortController().signal);
    assert.ok((await readdir(cluster)).includes('PG_VERSION'));
    // Otherwise an ordinary user could not remove the folder.
    for (const part of ['.', 'lib', 'bin']) await chmod(join(native, part), 0o755);
  });

  it('are described with their version and account', async () => {
    const description = await describeEmbeddedPostgres();
    assert.match(description.version ?? '', /^18\./);
    assert.ok(description.account);
  });
});
