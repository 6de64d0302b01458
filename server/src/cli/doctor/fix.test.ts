/**
 * Tests what `reelfeed doctor --fix` changes and leaves alone, and that `--dry-run` changes
 * nothing.
 */
import assert from 'node:assert/strict';
import { chmod, mkdir, readdir, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { emptyDatabase } from '../../../test/database.ts';
import { runCommand } from '../../../test/processes.ts';
import { temporaryFolder, toUrl } from '../../../test/service.ts';

const dataDir = await temporaryFolder();
const connection = await emptyDatabase();
const env = {
  PORT: '0',
  REELFEED_DATA_DIR: dataDir,
  DATABASE_URL: toUrl(connection),
  REELFEED_MIN_FREE_BYTES: '0',
};

type Report = {
  findings: { subject: string; state: string; detail: string }[];
  fixes: { subject: string; action: string; state: string; problem?: string }[];
};

async function doctor(...options: string[]): Promise<Report> {
  const { stdout, stderr } = await runCommand(['doctor', '--json', ...options], { env });
  assert.equal(stderr, '');
  return JSON.parse(stdout) as Report;
}

const modeOf = async (name: string) =>
  ((await stat(path.join(dataDir, name))).mode & 0o777).toString(8);

/** Creates a file, or a folder with a file, that was last modified `ageDays` ago. */
async function leave(name: string, ageDays: number): Promise<void> {
  const file = path.join(dataDir, name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, 'bytes');
  const at = Date.now() / 1_000 - ageDays * 24 * 3_600;
  await utimes(file, at, at);
}

test('what is safe is fixed once, the rest is left alone, and a dry run changes nothing', async () => {
  await chmod(dataDir, 0o757);
  await writeFile(path.join(dataDir, 'encryption.key'), Buffer.alloc(32, 1), { mode: 0o600 });
  await chmod(path.join(dataDir, 'encryption.key'), 0o644);
  await leave('media/work/receive-old', 3);
  await leave('media/work/receive-new', 0);
  await leave('media/trash/old', 3);
  await leave('backup-work/old', 3);
  await leave('media/objects/sources/original.mp4', 300);
  await leave('notes.txt', 300);
  await leave('drill/backup/somebody', 300);

  const expected = [
    /^Data directory: chmod o-w /,
    /^Data directory: chmod o-rwx .*encryption\.key$/,
    /^Leftovers: remove leftover files \(1\) from .*media\/work$/,
    /^Leftovers: remove leftover files \(1\) from .*media\/trash$/,
    /^Leftovers: remove leftover files \(1\) from .*backup-work$/,
    /^Database: apply \d+ migrations/,
  ];
  for (const options of [[], ['--dry-run'], ['--fix', '--dry-run']]) {
    const { fixes } = await doctor(...options);
    assert.equal(fixes.length, expected.length, JSON.stringify(fixes));
    for (const [index, { subject, action, state }] of fixes.entries()) {
      assert.match(`${subject}: ${action}`, expected[index] ?? /^$/);
      assert.equal(state, 'open');
    }
    assert.deepEqual([await modeOf('.'), await modeOf('encryption.key')], ['757', '644']);
    assert.equal((await readdir(path.join(dataDir, 'media/work'))).length, 2);
  }
  const dry = await runCommand(['doctor', '--dry-run'], { env });
  assert.match(dry.stdout, /^would fix {2}Data directory: chmod o-w /m);
  assert.match(dry.stdout, /^Run reelfeed doctor --fix to apply these fixes\.$/m);

  const fixed = await doctor('--fix');
  assert.deepEqual(
    fixed.fixes.map(({ state }) => state),
    expected.map(() => 'done'),
    JSON.stringify(fixed.fixes),
  );
  const found = (subject: string) => fixed.findings.filter((one) => one.subject === subject);
  for (const subject of ['Data directory', 'Leftovers', 'Database']) {
    assert.ok(
      found(subject).every(({ state }) => state === 'ok'),
      JSON.stringify(found(subject)),
    );
  }
  assert.deepEqual([await modeOf('.'), await modeOf('encryption.key')], ['755', '640']);
  assert.deepEqual(await readdir(path.join(dataDir, 'media/work')), ['receive-new']);
  assert.deepEqual(await readdir(path.join(dataDir, 'media/trash')), []);
  assert.deepEqual(await readdir(path.join(dataDir, 'media/objects/sources')), ['original.mp4']);
  assert.ok((await readdir(dataDir)).includes('notes.txt'));
  // Another process of the cluster may be running a drill.
  assert.ok((await readdir(dataDir)).includes('drill'));
  assert.deepEqual((await doctor('--fix')).fixes, [], 'the second run finds nothing to do');
});

test('what is left of a drill goes where nothing runs', async () => {
  const folder = await temporaryFolder();
  const own = { REELFEED_DATA_DIR: folder, PORT: '0', REELFEED_MIN_FREE_BYTES: '0' };
  await mkdir(path.join(folder, 'drill/backup'), { recursive: true });
  const { stdout } = await runCommand(['doctor', '--fix'], { env: own });
  assert.match(stdout, /^fixed {6}Leftovers: remove the throwaway database in .*drill$/m);
  assert.ok(!(await readdir(folder)).includes('drill'));
});
