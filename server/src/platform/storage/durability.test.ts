/**
 * Tests of faults and ordering that only the operating system can show: syscall order, EIO, a full
 * disk.
 */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { promisify } from 'node:util';

const run = promisify(execFile);
const storageModule = new URL('./disk-storage.ts', import.meta.url).href;
const foldersModule = new URL('./folders.ts', import.meta.url).href;

/** A test is skipped rather than failed if a tool is missing or not permitted here. */
function works(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}
const canTrace = works('strace', '-f', '-e', 'trace=none', 'true');
const canMount = works('unshare', '-Urm', 'sh', '-c', 'mount -t tmpfs -o size=4m none /mnt');

async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'durable-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A process that opens the storage in `root` and runs `body` with `storage` and `source()`. */
function program(root: string, body: string): string[] {
  const script = `
    import { openDiskStorage } from ${JSON.stringify(storageModule)};
    import { addToFolder, publishFolder } from ${JSON.stringify(foldersModule)};
    const storage = await openDiskStorage(${JSON.stringify(root)});
    async function* source(count = 1) { while (count-- > 0) yield Buffer.alloc(65536, 1); }
    ${body}`;
  return [process.execPath, '--input-type=module', '-e', script];
}

/** The traced calls in order, each with its name and the paths that it concerned. */
async function trace(folder: string, command: string[]): Promise<string[]> {
  const output = path.join(folder, 'trace');
  const calls = 'write,pwrite64,fsync,fdatasync,rename,renameat,renameat2';
  await run('strace', ['-f', '-y', '-s', '40', '-e', `trace=${calls}`, '-o', output, ...command]);
  const lines = (await readFile(output, 'utf8')).split('\n');
  // A call interrupted by another thread is written in two lines. Its position is that of the
  // second, but only the first has the arguments.
  const begun = new Map<string, string>();
  return lines.flatMap((line) => {
    const [, thread = '', call = ''] = /^(\d+)\s+(.*)$/.exec(line) ?? [];
    if (call.endsWith('<unfinished ...>')) begun.set(thread, call);
    if (call.endsWith('<unfinished ...>')) return [];
    const whole = call.startsWith('<...') ? (begun.get(thread) ?? call) : call;
    return [whole.replaceAll(folder, '')];
  });
}

function position(calls: string[], pattern: RegExp, which: 'first' | 'last' = 'first'): number {
  const found = which === 'first' ? calls.findIndex : calls.findLastIndex;
  const index = found.call(calls, (call: string) => pattern.test(call));
  assert.notEqual(index, -1, `no ${pattern} in\n${calls.join('\n')}`);
  return index;
}

function assertOrder(calls: string[], ...patterns: [RegExp, 'first' | 'last'][]): void {
  const positions = patterns.map(([pattern, which]) => position(calls, pattern, which));
  const sorted = positions.toSorted((a, b) => a - b);
  assert.deepEqual(positions, sorted, `${patterns.join(' < ')} in\n${calls.join('\n')}`);
}

test(
  'an upload is written, synced, renamed, and its folders are synced, before anyone is told',
  { skip: canTrace ? false : 'strace does not work here' },
  async (t) => {
    const folder = await temporaryFolder(t);
    const body = `
      const file = await storage.scratch.receive(source(4), { maxBytes: 1e6 });
      await storage.put('org/item/clip.mp4', file);
      console.log('acknowledged');`;
    const calls = await trace(folder, program(path.join(folder, 'root'), body));
    assertOrder(
      calls,
      [/write\(.*<\/root\/work\/receive-/, 'last'],
      [/fsync\(.*<\/root\/work\/receive-/, 'first'],
      [/rename.*"\/root\/objects\/org\/item\/clip\.mp4"/, 'first'],
      [/fsync\(.*<\/root\/objects\/org\/item>/, 'first'],
      [/fsync\(.*<\/root\/objects\/org>/, 'first'],
      [/fsync\(.*<\/root\/objects>/, 'last'],
      [/write\(1<.*acknowledged/, 'first'],
    );
  },
);

test(
  'files are durable before the manifest that names them; a new master comes after what it names',
  { skip: canTrace ? false : 'strace does not work here' },
  async (t) => {
    const folder = await temporaryFolder(t);
    for (const part of ['one/v0', 'two/v1'])
      await mkdir(path.join(folder, part), { recursive: true });
    for (const file of ['one/master', 'one/v0/0.ts', 'two/master', 'two/v1/0.ts']) {
      await writeFile(path.join(folder, file), 'x');
    }
    const body = `
      await publishFolder(storage, ${JSON.stringify(path.join(folder, 'one'))}, 'item');
      console.log('published');
      await addToFolder(storage, ${JSON.stringify(path.join(folder, 'two'))}, 'item', { last: ['master'] });
      console.log('added');`;
    const calls = await trace(folder, program(path.join(folder, 'root'), body));
    const manifest = /rename.*"\/root\/objects\/item\/manifest\.json"/;
    for (const file of ['master', 'v0/0.ts']) {
      assertOrder(
        calls,
        [new RegExp(`fsync\\(.*</one/${file}>`), 'last'],
        [new RegExp(`rename.*"/root/objects/item/${file}"`), 'first'],
        [manifest, 'first'],
      );
    }
    assertOrder(
      calls,
      [/fsync\(.*<\/root\/objects\/item\/v0>/, 'first'],
      [manifest, 'first'],
      [/write\(1<.*published/, 'first'],
      [/fsync\(.*<\/two\/v1\/0\.ts>/, 'last'],
      [/rename.*"\/root\/objects\/item\/v1\/0\.ts"/, 'first'],
      [/fsync\(.*<\/root\/objects\/item\/v1>/, 'first'],
      [/rename.*"\/root\/objects\/item\/master"/, 'last'],
      [manifest, 'last'],
      [/fsync\(.*<\/root\/objects\/item>/, 'last'],
      [/write\(1<.*added/, 'first'],
    );
    assertOrder(
      calls,
      [/fsync\(.*<\/two\/master>/, 'last'],
      [/rename.*"\/root\/objects\/item\/master"/, 'last'],
    );
  },
);

test(
  'a file whose sync fails is never acknowledged, and nothing of it stays',
  { skip: canTrace ? false : 'strace does not work here' },
  async (t) => {
    const root = path.join(await temporaryFolder(t), 'root');
    const body = `
      const { readdir } = await import('node:fs/promises');
      const failure = await storage.scratch.receive(source(), { maxBytes: 1e6 }).catch((error) => error);
      console.log(failure.code, (await readdir(${JSON.stringify(path.join(root, 'work'))})).length);`;
    // The first fsync opens the storage. strace counts calls per thread.
    const env = { ...process.env, UV_THREADPOOL_SIZE: '1' };
    const inject = 'inject=fsync:error=EIO:when=2+';
    const args = ['-f', '-o', '/dev/null', '-e', 'trace=fsync', '-e', inject];
    const { stdout } = await run('strace', [...args, ...program(root, body)], { env });
    assert.equal(stdout, 'EIO 0\n');
  },
);

test(
  'a full disk is a StorageFullError, leaves nothing, and the next file that fits succeeds',
  { skip: canMount ? false : 'mounting in a user namespace does not work here' },
  async () => {
    const body = `
      const { readdir } = await import('node:fs/promises');
      const failure = await storage.scratch.receive(source(100), { maxBytes: 1e8 }).catch((error) => error);
      console.log(failure.name, (await readdir('/mnt/work')).length);
      const low = await storage.scratch.receive(source(), { maxBytes: 1e8, minFreeBytes: 5e6 }).catch((error) => error);
      console.log(low.name);
      const file = await storage.scratch.receive(source(4), { maxBytes: 1e8, minFreeBytes: 1e6 });
      await storage.put('fits', file);
      console.log((await storage.head('fits')).sizeBytes);`;
    const mount = 'mount -t tmpfs -o size=4m none /mnt && exec "$@"';
    const args = ['-Urm', 'sh', '-c', mount, 'sh', ...program('/mnt', body)];
    const { stdout } = await run('unshare', args);
    assert.equal(stdout, 'StorageFullError 0\nStorageFullError\n262144\n');
  },
);
