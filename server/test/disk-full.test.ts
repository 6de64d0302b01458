/** Proves that a full disk only causes a clear error: nothing is lost, and the service survives. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, readFile, rm, statfs, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { generateKey } from '../src/features/keys/key-format.ts';
import { atEnd, cloneDatabase } from './database.ts';
import { createStream, freePort, publish } from './live-publisher.ts';
import { form, local, putSample, sampleBytes, settledItem } from './media.ts';
import { PASSWORD_FILE } from '../src/platform/postgres/password.ts';
import { DATABASE, ROLE } from '../src/platform/postgres/service-database.ts';
import { SOCKET_PORT } from '../src/platform/postgres/socket-folder.ts';
import { sampleEvent } from './event-samples.ts';
import { createItem, query } from './seed.ts';
import {
  type Call,
  eventually,
  fastDatabase,
  send,
  temporaryFolder,
  type TestService,
  toUrl,
} from './service.ts';
import { isFullScale, onlyInFullRuns } from './scale.ts';
import { openStoredEvents } from './stored-events.ts';
import { storedFiles } from './stored-files.ts';
import { beginPatch, createTus, paddedClip, patchTus, tusOffset } from './tus-sender.ts';

const mainScript = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const namespaces = ['--user', '--map-root-user', '--mount'];

/** Mounting in a new namespace needs no privileges if user namespaces are allowed. */
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
    // The mount is accessible through the process that created it.
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
const inFullRuns = isFullScale ? onOwnDisk : onlyInFullRuns;
const clip = await sampleBytes('portrait.mp4');
const large = Buffer.concat([clip, Buffer.alloc(4 * 2 ** 20)]);

test(
  'an upload that does not fit is 507, leaves nothing, and the next smaller one is accepted',
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
  'processing without space fails after its attempts, and the original is kept',
  inFullRuns,
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
  'a resumable upload that hits a full disk is 507 and keeps the recorded bytes',
  onOwnDisk,
  async () => {
    const service = await startOnSmallDisk(16_000, { REELFEED_ROLES: 'api' });
    const filler = path.join(service.dataDir, 'media/filler');
    await writeFile(filler, Buffer.alloc(13_000_000));
    const { uploadUrl } = await createItem(service);
    const url = local(service, uploadUrl);
    const whole = await paddedClip(6_000_000);
    await createTus(url, whole.length);
    const patch = await beginPatch(url, 0, whole.length);
    await patch.send(whole);
    await eventually('a refusal', async () =>
      /^HTTP\/1.1 507/.test(patch.answer()) ? true : null,
    );
    patch.socket.destroy();
    const offset = await tusOffset(url);
    assert.ok(offset > 1_000_000 && offset < 3_300_000, `${offset} bytes count`);
    await rm(filler);
    const rest = await patchTus(url, offset, whole.subarray(offset));
    assert.equal(rest.status, 204, await rest.text());
    assert.equal(await tusOffset(url), whole.length);
  },
);

test('an import without space waits for it, and the source is not blamed', onOwnDisk, async () => {
  const source = createServer((_request, response) => void response.end(clip));
  source.listen(0, '127.0.0.1');
  await once(source, 'listening');
  atEnd(async () => {
    source.closeAllConnections();
    source.close();
  });
  const service = await startOnSmallDisk(3_000, {
    REELFEED_ROLES: 'api,worker',
    REELFEED_EGRESS_ALLOW: '127.0.0.1',
  });
  const filler = path.join(service.dataDir, 'media/filler');
  await fill(filler);
  const { port } = source.address() as AddressInfo;
  const { body } = await service.call('POST', '/v1/content/import', {
    body: { items: [{ title: 'Waits', sourceUrl: `http://127.0.0.1:${port}/clip.mp4` }] },
  });
  const { id } = body.data.results[0].item;
  await eventually('the import to wait', async () => {
    const jobs = `select last_error from job where name = 'import-media'`;
    const [job] = await query(service, jobs);
    return /has no space/.test(String(job?.['last_error'])) ? true : null;
  });
  const item = (await service.call('GET', `/v1/content/${id}`)).body.data;
  assert.deepEqual([item.uploadStatus, item.errorReason], ['pending', null]);
  await rm(filler);
  await eventually(
    'the bytes to come',
    async () => {
      const rows = await query(service, 'select source_key from content where content_id = $1', [
        id,
      ]);
      return rows[0]?.['source_key'] ?? null;
    },
    60_000,
  );
});

/**
 * Runs the service with everything on one file system, including its log; root can mount without a
 * user namespace.
 */
async function startOnOneDisk(sizeMb: number) {
  const root = await temporaryFolder();
  const command =
    `mount -t tmpfs -o size=${sizeMb}m,mode=755 tmpfs "$0" && ` +
    `mkdir "$0/data" && exec "$@" 2>"$0/log"`;
  const node = [process.execPath, '--disable-warning=ExperimentalWarning', mainScript];
  const child = spawn('unshare', ['--mount', 'sh', '-c', command, root, ...node], {
    env: {
      PATH: process.env['PATH'],
      HOME: root,
      PORT: '0',
      REELFEED_DATA_DIR: path.join(root, 'data'),
      REELFEED_RTMP_PORT: '0',
      REELFEED_MIN_FREE_BYTES: '0',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let stdout = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  atEnd(async () => {
    if (child.exitCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  });
  const url = await eventually(
    'the service to be ready',
    async () => {
      if (child.exitCode !== null) throw new Error(`it ended: ${stdout}`);
      return /Reelfeed is ready: (\S+)/.exec(stdout)?.[1] ?? null;
    },
    60_000,
  );
  const keyOf = (kind: string) => new RegExp(`${kind} key +(rf_\\w+)`).exec(stdout)?.[1] ?? '';
  return {
    child,
    url,
    disk: `/proc/${child.pid ?? 0}/root${root}`,
    secretKey: keyOf('Secret'),
    publishableKey: keyOf('Publishable'),
  };
}

test(
  'a full disk with database and log: 507 or 503, not ready, and recovery once there is space',
  { skip: process.getuid?.() === 0 ? (reason ?? false) : 'only root can let PostgreSQL run there' },
  async () => {
    const service = await startOnOneDisk(300);
    const { id: contentId } = (
      await send(`${service.url}/v1/content/upload`, 'POST', {
        key: service.secretKey,
        body: { title: 'Watched' },
      })
    ).body.data;
    const acknowledged = new Set<string>();
    const refusals = new Map<number, string | null>();
    const post = async () => {
      const userId = `viewer-${acknowledged.size}`;
      const events = Array.from({ length: 50 }, () => sampleEvent('like', contentId, { userId }));
      const reply = await send(`${service.url}/v1/events/batch`, 'POST', {
        key: service.publishableKey,
        body: { events },
      }).catch(() => null);
      if (reply === null) return null;
      if (reply.status === 200)
        for (const { eventId } of events) acknowledged.add(eventId as string);
      else refusals.set(reply.status, reply.headers.get('retry-after'));
      return reply.status;
    };
    for (let round = 0; round < 5; round += 1) assert.equal(await post(), 200);
    const filler = path.join(service.disk, 'filler');
    await fill(filler);
    await eventually('writes to be refused', async () => {
      await post();
      const { status, body } = await send(`${service.url}/readyz`, 'GET');
      return refusals.size > 0 && status === 503 && /full/.test(body?.checks?.disk) ? true : null;
    });
    for (let round = 0; round < 30; round += 1) await post();
    assert.equal(service.child.exitCode, null, 'it lives');
    for (const [status, retryAfter] of refusals) {
      assert.ok([503, 507].includes(status), String(status));
      assert.ok(Number(retryAfter) > 0, `${status} says when to come back`);
    }
    await rm(filler);
    await eventually('events to be taken', async () => ((await post()) === 200 ? true : null));
    await eventually('readiness', async () =>
      (await send(`${service.url}/readyz`, 'GET')).status === 200 ? true : null,
    );
    // The path differs outside the mount namespace, so the socket is specified explicitly.
    const connection = {
      host: path.join(service.disk, 'data/socket'),
      port: SOCKET_PORT,
      user: ROLE,
      password: (await readFile(path.join(service.disk, 'data', PASSWORD_FILE), 'utf8')).trim(),
      database: DATABASE,
    };
    const stored = await (await openStoredEvents({ connection })).all();
    const ids = new Set(stored.map(({ eventId }) => eventId));
    assert.deepEqual(
      [...acknowledged].filter((id) => !ids.has(id)),
      [],
    );
    const log = await eventually('the log to be written again', async () => {
      const text = await readFile(path.join(service.disk, 'log'), 'utf8');
      return text.includes('log output works again') && text.endsWith('\n') ? text : null;
    });
    for (const line of log.trimEnd().split('\n')) JSON.parse(line);
    service.child.kill('SIGTERM');
    const [code] = (await once(service.child, 'exit')) as [number | null];
    assert.equal(code, 0);
  },
);

test(
  'a live stream ends before the disk is full, and what it has stored plays',
  inFullRuns,
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

/** Writes until the disk is full. */
async function fill(file: string): Promise<void> {
  const handle = await open(file, 'w');
  try {
    for (const size of [2 ** 20, 4_096, 1]) {
      const bytes = Buffer.alloc(size);
      for (;;) {
        const written = await handle.write(bytes).catch(() => null);
        if (written === null || written.bytesWritten < size) break;
      }
    }
  } finally {
    await handle.close();
  }
}
