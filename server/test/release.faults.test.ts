/**
 * Proves that what is released runs where nothing else is: the package is packed, installed into an empty
 * folder, started, used, and updated by one command. npm takes from its cache what is there.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
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
let key = '';

/** One command, as the guide has it. */
async function install(tarball: string): Promise<void> {
  const args = ['install', '--omit=dev', '--prefer-offline', '--no-audit', '--no-fund', tarball];
  await run('npm', args, { cwd: installed, maxBuffer: 16 * 2 ** 20 });
}

async function start() {
  const running = startMain({
    launcher: path.join(installed, 'node_modules/reelfeed/server/bin/reelfeed.js'),
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
  const first = await pack(out, { keyFile });
  const [sums, signature] = await Promise.all(
    ['SHA256SUMS', 'SHA256SUMS.sig'].map((name) => readFile(path.join(out, name))),
  );
  assert.ok(sums !== undefined && signature !== undefined);
  assert.ok(verify(null, sums, createPublicKey(publicKey), signature));
  assert.match(String(sums), /reelfeed-.*\.tgz\n.*\.cdx\.json\n$/);
  const bill = await readFile(path.join(out, `reelfeed-${first.version}.cdx.json`), 'utf8');
  assert.ok(JSON.parse(bill).components.length > 100);

  await mkdir(installed);
  await writeFile(path.join(installed, 'package.json'), '{"private":true}');
  await install(first.tarball);
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
  await install(second.tarball);
  const updated = await start();
  const item = (await updated.call('GET', target)).body.data;
  assert.equal(item.title, 'Kept over the update');
  const metrics = await fetch(`${updated.url}/metrics`).then((answer) => answer.text());
  assert.match(metrics, /build_info\{[^}]*version="999\.0\.0"/);
  await updated.stop();
});
