/** Proves that a full disk is a clear answer and no more: nothing is lost, and the service lives. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, statfs } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { generateKey } from '../src/features/keys/key-format.ts';
import { atEnd, cloneDatabase } from './database.ts';
import { createStream, freePort, publish } from './live-publisher.ts';
import { form, local, putSample, sampleBytes, settledItem } from './media.ts';
import { createItem } from './seed.ts';
import {
  type Call,
  eventually,
  fastDatabase,
  send,
  temporaryFolder,
  type TestService,
  toUrl,
} from './service.ts';
import { storedFiles } from './stored-files.ts';

const mainScript = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const namespaces = ['--user', '--map-root-user', '--mount'];

/** A mount of our own needs no rights where user namespaces are allowed. */
function whyNoMount(): string | null {
  const tried = spawnSync('unshare', [...namespaces, 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']);
  return tried.status === 0 ? null : 'no file system of our own: `unshare --mount` does not work';
}

/** The service as a process whose media folder is a file system of `sizeKb`. */
async function startOnSmallDisk(
  sizeKb: number,
  env: Record<string, string>,
): Promise<TestService & { pid: number }> {
  const root = await temporaryFolder();
  const connection = await cloneDatabase();
  const [secretKey, publishableKey] = [generateKey('secret'), generateKey('publishable')];
  const media = path.join(root, 'media');
  await mkdir(media);
  const command = `mount -t tmpfs -o size=${sizeKb}k tmpfs "$0" && exec "$@"`;
  const node = [process.execPath, '--disable-warning=ExperimentalWarning', mainScript];
  const child = spawn('unshare', [...namespaces, 'sh', '-c', command, media, ...node], {
    env: {
      PATH: process.env['PATH'],
      HOME: root,
      PORT: '0',
      REELFEED_DATA_DIR: root,
      DATABASE_URL: toUrl(connection),
      REELFEED_SECRET_KEY: secretKey,
      REELFEED_PUBLISHABLE_KEY: publishableKey,
      REELFEED_LOG_LEVEL: 'error',
      REELFEED_MIN_FREE_BYTES: '0',
      ...fastDatabase,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let stdout = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  const stop = async () => {
    if (child.exitCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  };
  atEnd(stop);
  const url = await eventually('the service to be ready', async () => {
    if (child.exitCode !== null) throw new Error(`it ended: ${stdout}`);
    return /Reelfeed is ready: (\S+)/.exec(stdout)?.[1] ?? null;
  });
  const pid = child.pid ?? 0;
  return {
    url,
    pid,
    // The mount is seen through the process that has made it.
    dataDir: `/proc/${pid}/root${root}`,
    connection,
    secretKey,
    publishableKey,
    call: (method, target, call?: Call) =>
      send(`${url}${target}`, method, { key: secretKey, ...call }),
    [Symbol.asyncDispose]: stop,
  };
}

const reason = whyNoMount();
const onOwnDisk = { skip: reason ?? false };
const clip = await sampleBytes('portrait.mp4');
const large = Buffer.concat([clip, Buffer.alloc(4 * 2 ** 20)]);

test(
  'an upload that does not fit is 507, leaves nothing, and the next smaller one is taken',
  onOwnDisk,
  async () => {
    const service = await startOnSmallDisk(3_000, { REELFEED_ROLES: 'api,worker' });
    const { id, uploadUrl } = await createItem(service);
    const put = (body: Buffer) => send(local(service, uploadUrl), 'PUT', { body });
    for (let round = 0; round < 3; round += 1) {
      const byPut = await put(large);
      assert.equal(byPut.status, 507, byPut.text);
      assert.equal(byPut.body.error.code, 'INSUFFICIENT_STORAGE');
      const byForm = await service.call('POST', '/v1/content/upload', {
        body: form([
          ['title', 'Too large'],
          ['file', large],
        ]),
      });
      assert.equal(byForm.status, 507, byForm.text);
      assert.deepEqual(await storedFiles(service, 'work'), []);
      assert.deepEqual(await storedFiles(service, 'objects'), []);
      assert.equal((await send(`${service.url}/readyz`, 'GET')).status, 200);
    }
    const item = await service.call('GET', `/v1/content/${id}`);
    assert.equal(item.body.data.uploadStatus, 'pending');
    assert.equal((await put(clip)).status, 200, 'the URL is still good');
    assert.equal((await storedFiles(service, 'objects')).length, 1);
  },
);

test(
  'processing without room ends in error after its tries, and the original stays',
  onOwnDisk,
  async () => {
    const roomKb = Math.ceil(clip.length / 1024) + 150;
    const service = await startOnSmallDisk(roomKb, {});
    const { body, status, text } = await putSample(service, 'portrait.mp4');
    assert.equal(status, 200, text);
    const item = await settledItem(service, body.data.id, 'error', 240_000);
    assert.equal(item.errorReason.code, 'PROCESSING_FAILED');
    assert.deepEqual(await storedFiles(service, 'work'), []);
    const left = await storedFiles(service, 'objects');
    assert.deepEqual(
      left.map((file) => file.split('/')[0]),
      ['sources'],
    );
    assert.equal((await service.call('POST', `/v1/content/${item.id}/retry`)).status, 200);
  },
);

test(
  'a live stream ends before the disk is full, and what it has stored plays',
  onOwnDisk,
  async () => {
    const port = await freePort();
    const minFreeBytes = 6_000_000;
    const service = await startOnSmallDisk(8_000, {
      REELFEED_ROLES: 'api,worker',
      REELFEED_MIN_FREE_BYTES: String(minFreeBytes),
      REELFEED_RTMP_PORT: String(port),
    });
    const stream = await createStream(service, { reconnectWindow: 600 });
    const publishing = await publish(port, stream.streamKey, 20);
    await publishing.publisher.closed;
    const { bavail, bsize } = await statfs(path.join(service.dataDir, 'media'));
    assert.ok(bavail * bsize > minFreeBytes - 1_000_000, `${bavail * bsize} bytes are free`);
    const { body } = await service.call('GET', `/v1/live-streams/${stream.id}`);
    assert.equal(body.data.status, 'ended');
    assert.ok(body.data.recordedSeconds > 2);
    const item = (await service.call('GET', `/v1/content/${stream.contentId}`)).body.data;
    assert.notEqual(item.uploadStatus, 'error');
    const playlist = await send(
      local(service, new URL('index.m3u8', item.streamingUrl).href),
      'GET',
    );
    const segments = playlist.text.match(/^[\w-]+\.m4s$/gm) ?? assert.fail(playlist.text);
    for (const segment of segments) {
      const url = local(service, new URL(segment, item.streamingUrl).href);
      assert.equal((await send(url, 'GET')).status, 200, segment);
    }
  },
);
