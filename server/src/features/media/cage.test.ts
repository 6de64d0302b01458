import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { cagedNode, findCage, type CageLevel } from './cage.ts';
import { workFolder } from './testing/run-task.ts';

/** Runs a script in a cage that may read `source` and write to `out`, and returns its output. */
async function inCage(
  level: CageLevel,
  folder: string,
  script: string,
  hasSeccomp = false,
): Promise<string> {
  const out = join(folder, 'out');
  await mkdir(out, { recursive: true });
  const source = join(folder, 'source');
  await writeFile(source, 'the source');
  await writeFile(join(folder, 'secret'), 'a secret');
  await using command = await cagedNode({ level, hasSeccomp, reason: null }, ['--eval', script], {
    readable: [source],
    writable: [out],
    cwd: out,
    deadlineMs: 30_000,
  });
  const child = spawn(command.file, [...command.args], { env: {} });
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  await once(child, 'close');
  return printed;
}

/** Code that runs `body` and prints its result or its error code. */
const attempt = (body: string): string =>
  `try { console.log('done', String(${body})) } catch (error) { console.log(error.code) }`;

const cage = await findCage();
const levels: CageLevel[] =
  cage.level === 'namespaces' ? ['namespaces', 'permissions'] : ['permissions'];

for (const level of levels) {
  test(`${level}: reads the source, writes the output, and nothing else`, async () => {
    await using folder = await workFolder();
    const source = join(folder.path, 'source');
    const fs = `require('node:fs')`;
    const read = (path: string) => attempt(`${fs}.readFileSync(${JSON.stringify(path)}, 'utf8')`);
    assert.equal(await inCage(level, folder.path, read(source)), 'done the source\n');
    const refused =
      level === 'namespaces' ? /^(ENOENT|ERR_ACCESS_DENIED)\n$/ : /^ERR_ACCESS_DENIED\n$/;
    assert.match(await inCage(level, folder.path, read(join(folder.path, 'secret'))), refused);
    assert.match(await inCage(level, folder.path, read('/etc/passwd')), refused);
    const written = join(folder.path, 'out', 'made');
    const write = (path: string) => attempt(`${fs}.writeFileSync(${JSON.stringify(path)}, 'x')`);
    assert.equal(await inCage(level, folder.path, write(written)), 'done undefined\n');
    assert.equal(await readFile(written, 'utf8'), 'x');
    const changed = await inCage(level, folder.path, write(source));
    assert.match(changed, /^(EROFS|ERR_ACCESS_DENIED)\n$/);
    assert.equal(await readFile(source, 'utf8'), 'the source');
  });
}

const skip = cage.level === 'namespaces' ? false : `no namespaces here: ${cage.reason}`;

test(
  'namespaces: native code has no network, no other process and no other file',
  { skip },
  async () => {
    await using folder = await workFolder();
    const server = createServer((socket) => socket.end('reached')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const connect = `require('node:net').connect(${port}, '127.0.0.1')
    .on('error', (error) => console.log(error.code)).on('data', (data) => console.log(String(data)))`;
    assert.match(
      await inCage('namespaces', folder.path, connect),
      /^(ENETUNREACH|ECONNREFUSED)\n$/,
    );
    server.close();
    // /proc lists only this namespace. The permission model would hide it, so the script runs
    // without.
    await using command = await cagedNode(
      { level: 'namespaces', hasSeccomp: false, reason: null },
      [],
      {
        readable: [],
        writable: [folder.path],
        cwd: folder.path,
        deadlineMs: 30_000,
      },
    );
    const start = command.args.indexOf(process.execPath);
    const shell = [
      ...command.args.slice(0, start === -1 ? command.args.lastIndexOf('--') + 1 : start),
    ];
    const look = spawn(command.file, [
      ...shell,
      process.execPath,
      '--print',
      `const fs = require('node:fs');
     const pids = fs.readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name)).length;
     [pids <= 2, fs.readdirSync('/').join(' '), fs.readdirSync('/.old').length].join('|')`,
    ]);
    let printed = '';
    look.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    await once(look, 'close');
    const [isAlone, names = '', left] = printed.trim().split('|');
    assert.equal(isAlone, 'true');
    assert.equal(left, '0', 'nothing is left of the old root');
    assert.ok(!names.split(' ').includes('home') && !names.split(' ').includes('root'), names);
  },
);

const skipSeccomp = cage.hasSeccomp ? false : 'no seccomp here';
const CONNECT = `require('node:net').connect(9, '127.0.0.1').on('error', (e) => console.log(e.code))`;
const ORDINARY = `console.log(require('node:os').cpus().length > 0)`;

for (const level of levels) {
  test(
    `${level} with seccomp: sockets are refused, ordinary work is not`,
    { skip: skipSeccomp },
    async () => {
      await using folder = await workFolder();
      assert.equal(await inCage(level, folder.path, CONNECT, true), 'EPERM\n');
      assert.equal(await inCage(level, folder.path, ORDINARY, true), 'true\n');
    },
  );
}
