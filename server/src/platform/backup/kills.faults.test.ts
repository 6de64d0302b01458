/**
 * Proves that a backup whose process is killed at any step is never mistaken for a complete one,
 * and that the next run completes and can be restored correctly, in a folder and in a bucket.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { cloneDatabase, silentLog } from '../../../test/database.ts';
import { s3Settings, startS3 } from '../../../test/s3-server.ts';
import { fastDatabase, temporaryFolder } from '../../../test/service.ts';
import { readConfig } from '../../app/config.ts';
import type { DatabaseConnection } from '../database/database.ts';
import { openDiskStorage } from '../storage/disk-storage.ts';
import type { Storage } from '../storage/storage.ts';
import { examineBackup, openBackupSource, sourceIn } from './backup-source.ts';
import { withBackupClient } from './database-load.ts';
import type { KilledBackup, KillStep } from './killed-backup.fixture.ts';
import { listBackups } from './manifest.ts';
import { openPlace } from './place.ts';
import { openRepository } from './repository.ts';
import { checkRestorable, restoreDatabase, restoreMedia } from './restore-backup.ts';
import { pruneRepository } from './retention.ts';
import { takeBackup } from './take-backup.ts';

const fixture = fileURLToPath(new URL('./killed-backup.fixture.ts', import.meta.url));
const passphrase = 'correct horse battery';

type Operation = Pick<KillStep, 'operation' | 'key'>;
const puts: Operation[] = [
  '^repository.json',
  '^media/',
  'database/',
  'database/organization\\.',
  '^media-index',
  'media.ndjson',
  'encryption.key',
  'manifest.json',
].map((key) => ({ operation: 'put', key }));
const removals: Operation[] = [
  { operation: 'remove', key: 'manifest.json' },
  { operation: 'removePrefix', key: '^backups/' },
  { operation: 'remove', key: '^media/' },
];
const moments = ['before', 'amid', 'after'] as const;
const steps: KillStep[] = [...puts, ...removals].flatMap((operation) =>
  moments
    .filter((when) => operation.operation === 'put' || when !== 'amid')
    .map((when) => ({ ...operation, when })),
);
/**
 * Before a put, nothing has reached either kind of place, so the folder's run covers those kills.
 */
const bucketSteps = steps.filter(({ operation, when }) => operation !== 'put' || when !== 'before');

const put = (storage: Storage, key: string, bytes: Uint8Array) =>
  storage.put(key, Readable.from([bytes]));

async function query(connection: DatabaseConnection, text: string, values: unknown[] = []) {
  return withBackupClient(connection, async (client) => (await client.query(text, values)).rows);
}

const names = (connection: DatabaseConnection) =>
  query(connection, 'select organization_id, name from organization order by organization_id');

async function contents(storage: Storage): Promise<Record<string, string>> {
  const found: [string, string][] = [];
  for await (const { key } of storage.list('')) {
    const read = await storage.read(key);
    if (read !== null) found.push([key, (await buffer(read.stream)).toString('base64')]);
  }
  return Object.fromEntries(found.toSorted());
}

/** An installation whose database and media change in each round. */
async function startInstallation(largeBytes: number) {
  const folder = await temporaryFolder();
  const connection = await cloneDatabase();
  const media = path.join(folder, 'media');
  const storage = await openDiskStorage(media);
  const keyFile = path.join(folder, 'encryption.key');
  await writeFile(keyFile, 'the key of the installation');
  await put(storage, 'large.mp4', randomBytes(largeBytes));
  return {
    folder,
    connection,
    storage,
    media,
    keyFile,
    async change(round: number) {
      await query(connection, 'insert into organization (organization_id, name) values ($1, $2)', [
        `org_kill${round}`,
        `Round ${round}`,
      ]);
      await storage.remove(`clip-${round - 2}.mp4`);
      await put(storage, `clip-${round}.mp4`, randomBytes(100_000));
    },
  };
}

type Installation = Awaited<ReturnType<typeof startInstallation>>;

async function killBackup(input: KilledBackup, env: Record<string, string>): Promise<void> {
  const child = spawn(process.execPath, [fixture, JSON.stringify(input)], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  await once(child, 'close');
  assert.equal(child.signalCode, 'SIGKILL', `${JSON.stringify(input.step)}: ${errors}`);
}

async function proveKills(
  installation: Installation,
  main: string,
  env: Record<string, string>,
  killedAt: readonly KillStep[],
): Promise<void> {
  const { connection, storage, media, keyFile, folder } = installation;
  const settings = { ...fastDatabase, REELFEED_DATA_DIR: folder, ...env };
  const config = readConfig(settings);
  const open = async (place: string) =>
    openRepository(await openPlace(place, config), { place, passphrase, create: true });
  const listed = async (place: string) =>
    openRepository(await openPlace(place, config), { place, passphrase, create: false }).then(
      listBackups,
      (): string[] => [],
    );
  let round = 0;
  for (const step of killedAt) {
    const label = JSON.stringify(step);
    round += 1;
    // A repository is created only once, so each kill during that step needs a new place.
    const place = step.key === '^repository.json' ? `${main}-${step.when}` : main;
    await installation.change(round);
    const before = await listed(place);
    if (step.operation === 'remove' && step.key === '^media/') {
      // Simulates a killed run that copied a file which has since been deleted.
      await put((await open(place)).storage, 'media/00/of-no-backup', randomBytes(9));
    }
    await killBackup({ connection, media, keyFile, place, passphrase, step }, settings);
    const after = await listed(place);
    const isFinished =
      step.operation !== 'put' || (step.key === 'manifest.json' && step.when === 'after');
    const fresh = after.filter((id) => !before.includes(id));
    assert.equal(fresh.length, isFinished ? 1 : 0, `${label} leaves ${after.join(', ')}`);
    if (step.operation === 'put') {
      assert.ok(
        before.every((id) => after.includes(id)),
        `${label} loses none`,
      );
    }
    const repository = await open(place);
    const newest = after.at(-1);
    if (newest !== undefined) {
      const { problems } = await examineBackup(await sourceIn(repository, newest));
      assert.deepEqual(problems, [], `${newest} is listed after ${label}`);
    }
    const taken = await takeBackup(
      { connection, storage, stream: null, version: '1' },
      repository,
      keyFile,
    );
    const source = await openBackupSource({ place, passphrase, id: null }, config);
    assert.equal(source.name, taken.id, label);
    assert.deepEqual((await examineBackup(source)).problems, [], label);
    // The next run treats leftovers the same way, wherever the step was interrupted.
    const isAmid = step.when === 'amid' || step.operation !== 'put';
    if (isAmid) await proveRestore(installation, source, label);
  }
  // Leftovers of killed runs are gone after retention, and the newest backup is still complete.
  const repository = await open(main);
  const week = 7 * 24 * 3_600_000;
  await pruneRepository(repository, { backupsMs: 0, recoveryMs: 0 }, Date.now() + week);
  const [last, ...others] = await listBackups(repository);
  assert.deepEqual(others, []);
  const source = await sourceIn(repository, last ?? '');
  assert.deepEqual((await examineBackup(source)).problems, []);
  const held = new Set((await Array.fromAsync(source.media())).map((entry) => entry.path));
  for await (const { key } of repository.storage.list('')) {
    const isNeeded = key.startsWith(`backups/${last}/`) || held.has(key) || !key.includes('/');
    assert.ok(isNeeded, `${key} is of no backup`);
  }
}

async function proveRestore(
  { connection, storage, folder }: Installation,
  source: Awaited<ReturnType<typeof openBackupSource>>,
  label: string,
): Promise<void> {
  await checkRestorable(source);
  const target = await cloneDatabase();
  await withBackupClient(target, (client) => restoreDatabase(source, target, client, silentLog));
  assert.deepEqual(await names(target), await names(connection), label);
  const copy = await openDiskStorage(path.join(folder, `restored-${source.name}`));
  await restoreMedia(copy, source.media(), source.read);
  const [there, here] = [await contents(storage), await contents(copy)];
  for (const [key, bytes] of Object.entries(there)) {
    assert.ok(here[key] === bytes, `${label}: ${key} is as it was`);
  }
}

test('a backup into a folder is killed at each step', async () => {
  const installation = await startInstallation(2 ** 20);
  await proveKills(installation, path.join(installation.folder, 'place'), {}, steps);
});

test('a backup into a bucket is killed at each step', async () => {
  const s3 = await startS3({ bucket: 'kept', pageSize: 7 });
  const { REELFEED_MEDIA_URL: _media, ...reach } = s3Settings(s3);
  // Larger than one part, so that the upload to the bucket is a multipart upload.
  await proveKills(
    await startInstallation(17 * 2 ** 20),
    's3://kept/backups-of/one',
    reach,
    bucketSteps,
  );
  assert.ok(s3.operations.includes('UploadPart'), 'a large file went in parts');
});
