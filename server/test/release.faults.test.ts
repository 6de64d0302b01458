/**
 * Proves that the release runs on a bare system: the package is packed, installed into an empty
 * folder, started, used, and updated by one command. npm uses its cache where possible.
 */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { generateKeyPairSync, verify } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { pack } from '../../release/pack.ts';
import { form, sampleBytes } from './media.ts';
import { ready, startMain } from './processes.ts';
import { eventually, send, temporaryFolder } from './service.ts';

const run = promisify(execFile);
const folder = await temporaryFolder();
const installed = path.join(folder, 'installed');
const dataDir = path.join(folder, 'data');
const maxMegabytes = 500;
const launcher = 'node_modules/reelfeed/server/bin/reelfeed.js';
let key = '';
let first = '';

/** The single command from the guide. */
async function install(
  packages: readonly string[],
  cwd = installed,
  env = process.env,
): Promise<void> {
  const args = ['install', '--omit=dev', '--prefer-offline', '--no-audit', '--no-fund'];
  await run('npm', [...args, ...packages], { cwd, env, maxBuffer: 16 * 2 ** 20 });
}

/** A folder in the PATH whose `node` is too old for the service, or null. */
async function folderOfOldNode(): Promise<string | null> {
  for (const bin of (process.env['PATH'] ?? '').split(':')) {
    const found = await run(path.join(bin, 'node'), ['--version']).catch(() => null);
    const major = Number(/^v(\d+)\./.exec(found?.stdout ?? '')?.[1]);
    if (major >= 20 && major < 24) return bin;
  }
  return null;
}

async function start() {
  const running = startMain({
    launcher: path.join(installed, launcher),
    cwd: installed,
    env: { PORT: '0', REELFEED_DATA_DIR: dataDir, REELFEED_MIN_FREE_BYTES: '0' },
  });
  const url = await ready(running);
  key ||= /(rf_sk_\S+)/.exec(running.output.stdout)?.[1] ?? '';
  const call = (method: string, target: string, body?: FormData) =>
    send(url + target, method, { key, ...(body !== undefined && { body }) });
  const stop = async () => {
    running.child.kill('SIGTERM');
    assert.equal((await running.ended).code, 0);
  };
  return { url, call, stop };
}

test('a packed release is installed, plays a clip, and is updated by one command', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const keyFile = path.join(folder, 'release.pem');
  await writeFile(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const out = path.join(folder, 'out');
  const packed = await pack(out, { keyFile });
  first = packed.tarball;
  const [sums, signature] = await Promise.all(
    ['SHA256SUMS', 'SHA256SUMS.sig'].map((name) => readFile(path.join(out, name))),
  );
  assert.ok(sums !== undefined && signature !== undefined);
  assert.ok(verify(null, sums, publicKey, signature));
  assert.match(String(sums), /reelfeed-.*\.tgz\n.*\.cdx\.json\n$/);
  const bill = await readFile(path.join(out, `reelfeed-${packed.version}.cdx.json`), 'utf8');
  assert.ok(JSON.parse(bill).components.length > 100);

  await mkdir(installed);
  await writeFile(path.join(installed, 'package.json'), '{"private":true}');
  await install([first]);
  const { stdout } = await run('du', ['-s', '-BM', path.join(installed, 'node_modules')]);
  assert.ok(Number.parseInt(stdout, 10) <= maxMegabytes, stdout);

  const service = await start();
  const uploaded = await service.call(
    'POST',
    '/v1/content/upload',
    form([
      ['title', 'Kept over the update'],
      ['file', await sampleBytes('small.mp4')],
    ]),
  );
  assert.equal(uploaded.status, 201, uploaded.text);
  const target = `/v1/content/${uploaded.body.data.id}`;
  const isReady = async () =>
    (await service.call('GET', target)).body.data.uploadStatus === 'ready' ? true : null;
  await eventually('the clip to be ready', isReady, 300_000);
  for (const page of ['/console/', '/docs/', '/player/reelfeed-feed.js']) {
    assert.equal((await fetch(service.url + page)).status, 200, page);
  }
  await service.stop();

  const second = await pack(path.join(folder, 'next'), { version: '999.0.0' });
  await install([second.tarball]);
  const updated = await start();
  const item = (await updated.call('GET', target)).body.data;
  assert.equal(item.title, 'Kept over the update');
  const metrics = await fetch(`${updated.url}/metrics`).then((answer) => answer.text());
  assert.match(metrics, /build_info\{[^}]*version="999\.0\.0"/);
  await updated.stop();
});

test('with Node 20 and no network after the installation, it starts and responds', async (t) => {
  const bin = await folderOfOldNode();
  if (bin === null) return t.skip('needs a Node from 20 to 23 on the path');
  const canUnshare = await run('unshare', ['--net', 'ip', 'link', 'set', 'lo', 'up']).catch(
    () => null,
  );
  if (canUnshare === null) return t.skip('needs the right to make a network namespace, and ip');
  const fresh = path.join(folder, 'fresh');
  await mkdir(fresh);
  await writeFile(path.join(fresh, 'package.json'), '{"private":true}');
  const env = { ...process.env, PATH: `${bin}:/usr/bin:/bin:/usr/sbin:/sbin` };
  await install([first, 'node@24'], fresh, env);
  const { stdout } = await run('du', ['-s', '-BM', path.join(fresh, 'node_modules')]);
  t.diagnostic(`${stdout.trim()} with Node`);

  const script = 'ip link set lo up && exec node "$0" start';
  const running = spawn('unshare', ['--net', 'sh', '-c', script, path.join(fresh, launcher)], {
    cwd: fresh,
    env: { ...env, PORT: '4321', REELFEED_DATA_DIR: path.join(fresh, 'data') },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  running.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const ended = once(running, 'exit');
  const ask = `fetch('http://127.0.0.1:4321/readyz').then((answer) => console.log(answer.status))`;
  const inside = ['--net', '--target', String(running.pid), 'node', '-e', ask];
  await eventually(
    'the service to be ready without a network',
    async () => {
      assert.equal(running.exitCode, null, errors);
      const answer = await run('nsenter', inside, { env }).catch(() => null);
      return answer?.stdout.trim() === '200' ? true : null;
    },
    120_000,
  );
  running.kill('SIGTERM');
  const [code] = (await ended) as [number | null];
  assert.equal(code, 0, errors);
});
