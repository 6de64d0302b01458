/** Tests how service processes end, and that several share the work of one database. */
import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import { text } from 'node:stream/consumers';
import { Client } from 'pg';
import { generateKey } from '../src/features/keys/key-format.ts';
import { poolConnection, type DatabaseConnection } from '../src/platform/database/database.ts';
import { serverProcesses } from '../src/platform/postgres/testing.ts';
import { cloneDatabase } from './database.ts';
import { sampleBytes } from './media.ts';
import { ready, startCommand, startMain, type RunningProcess } from './processes.ts';
import { sendRaw } from './raw-http.ts';
import { eventually, send, temporaryFolder, toUrl, type Call } from './service.ts';
import { pause, stays } from './waiting.ts';

const secretKey = generateKey('secret');
const unknownId = '01890000-0000-7000-8000-000000000000';
const clip = await sampleBytes('small.mp4');

type Started = RunningProcess & { url: string; connection: DatabaseConnection; dataDir: string };

/** A service process on an external database, alone or beside another one. */
async function start(settings: Record<string, string> = {}, beside?: Started): Promise<Started> {
  const connection = beside?.connection ?? (await cloneDatabase());
  const dataDir = beside?.dataDir ?? (await temporaryFolder());
  const env = {
    PORT: '0',
    DATABASE_URL: toUrl(connection),
    REELFEED_DATA_DIR: dataDir,
    REELFEED_SECRET_KEY: secretKey,
    REELFEED_MIN_FREE_BYTES: '0',
    REELFEED_DATABASE_POOL_SIZE: '60',
    REELFEED_DRAIN_DELAY: '0s',
    REELFEED_MEDIA_NICENESS: '0',
    REELFEED_LOG_LEVEL: 'error',
    ...settings,
  };
  const running = startMain({ env });
  return { ...running, url: await ready(running), connection, dataDir };
}

const call = ({ url }: Started, method: string, target: string, options: Call = {}) =>
  send(url + target, method, { key: secretKey, ...options });

/** Makes every request that touches content wait until it is released. */
async function holdContent(connection: DatabaseConnection) {
  const client = new Client(poolConnection(connection));
  await client.connect();
  await client.query('begin');
  await client.query('lock table content in access exclusive mode');
  // A transaction sees only one snapshot of the statistics, so another connection reads them.
  const watcher = new Client(poolConnection(connection));
  await watcher.connect();
  return {
    async waiting(count: number): Promise<void> {
      await eventually(`${count} requests to wait`, async () => {
        const { rows } = await watcher.query<{ n: number }>(
          `select count(*)::int as n from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return (rows[0]?.n ?? 0) >= count ? true : null;
      });
    },
    async [Symbol.asyncDispose]() {
      await client.end();
      await watcher.end();
    },
  };
}

/** A keep-alive request, as most clients send. */
function keepAlive(started: Started, agent: Agent, method: string, target: string, body = '') {
  const headers = {
    authorization: `Bearer ${secretKey}`,
    ...(body !== '' && { 'content-type': 'application/json' }),
  };
  return new Promise<{ status: number; connection: string | undefined; body: string }>(
    (resolve, reject) => {
      const sent = request(started.url + target, { agent, method, headers }, (answer) => {
        text(answer).then((received) => {
          const { statusCode = 0, headers: got } = answer;
          resolve({ status: statusCode, connection: got.connection, body: received });
        }, reject);
      });
      sent.on('error', reject).end(body);
    },
  );
}

/** Waits until the process reports that it is draining; fails if it stops listening first. */
async function draining(started: Started) {
  return eventually('the process to drain', async () => {
    const answer = await send(`${started.url}/readyz`, 'GET');
    return answer.status === 503 && 'draining' in answer.body.checks ? answer : null;
  });
}

test('SIGTERM breaks none of 50 requests in progress, and rejects new ones with a response', async () => {
  const started = await start({ REELFEED_ROLES: 'api' });
  using agent = disposableAgent();
  // Connections are opened and kept in advance, as by a load balancer.
  await Promise.all(
    Array.from({ length: 50 }, () => keepAlive(started, agent.agent, 'GET', '/healthz')),
  );
  const held = await holdContent(started.connection);
  const body = JSON.stringify({ title: 'Made while draining' });
  const answers = Array.from({ length: 50 }, (_, index) =>
    index % 2 === 0
      ? keepAlive(started, agent.agent, 'GET', `/v1/content/${unknownId}`)
      : keepAlive(started, agent.agent, 'POST', '/v1/content/upload', body),
  );
  await held.waiting(50);
  // Ctrl+C in a terminal can arrive more than once, but counts as one.
  started.child.kill('SIGTERM');
  started.child.kill('SIGTERM');
  started.child.kill('SIGINT');
  const notReady = await draining(started);
  assert.equal(notReady.body.checks.draining, 'the process is shutting down');
  assert.equal((await send(`${started.url}/healthz`, 'GET')).status, 200);
  const refused = await call(started, 'GET', '/v1/keys');
  assert.equal(refused.status, 503);
  assert.equal(refused.body.error.code, 'UNAVAILABLE');
  assert.match(refused.headers.get('retry-after') ?? '', /^\d+$/);
  assert.equal(refused.headers.get('connection'), 'close');
  await held[Symbol.asyncDispose]();
  const all = await Promise.all(answers);
  assert.deepEqual(
    all.map(({ status }) => status),
    all.map((_, index) => (index % 2 === 0 ? 404 : 201)),
  );
  // Clients must not send their next request on a connection that is about to close.
  assert.ok(all.every(({ connection }) => connection === 'close'));
  const { code, signal, stderr } = await started.ended;
  assert.deepEqual([code, signal, stderr], [0, null, '']);

  const next = await start({ REELFEED_ROLES: 'api' }, started);
  const { body: list } = await call(next, 'GET', '/v1/content');
  assert.equal(list.meta.total, 25);
});

function disposableAgent() {
  const agent = new Agent({ keepAlive: true, maxSockets: 60 });
  return { agent, [Symbol.dispose]: () => agent.destroy() };
}

test('a second SIGTERM ends the process at once', async () => {
  const started = await start({ REELFEED_ROLES: 'api' });
  await using held = await holdContent(started.connection);
  const broken = assert.rejects(call(started, 'GET', '/v1/content'));
  await held.waiting(1);
  started.child.kill('SIGTERM');
  await draining(started);
  await stays('the process', () => started.child.exitCode, null, 600);
  const secondAt = performance.now();
  started.child.kill('SIGTERM');
  const { code } = await started.ended;
  assert.equal(code, 1);
  assert.ok(performance.now() - secondAt < 9_000, 'it did not wait for the grace of 25 s');
  await broken;
});

test('requests that exceed the grace period are cut off, and the process still exits with 0', async () => {
  const started = await start({ REELFEED_ROLES: 'api', REELFEED_SHUTDOWN_GRACE: '300ms' });
  const { body } = await call(started, 'POST', '/v1/content/upload', { body: { title: 'Slow' } });
  const { pathname, search, host } = new URL(body.data.uploadUrl);
  const head =
    `PUT ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\n` +
    `Content-Length: ${clip.length}\r\n\r\n`;
  const upload = sendRaw(started.url, [head, clip.subarray(0, 1_000)], { timeoutMs: 60_000 });
  const halfSent = sendRaw(started.url, ['GET /healthz HTTP/1.1\r\nHost: x\r\n'], {
    timeoutMs: 60_000,
  });
  await pause(200, 'a part of the upload arrives');
  started.child.kill('SIGTERM');
  const { code, stderr } = await started.ended;
  assert.deepEqual([code, stderr], [0, '']);
  assert.equal((await upload).closed, true);
  assert.equal((await halfSent).closed, true);
});

test('a start that is told to stop exits with 0, silently, and leaves no database behind', async () => {
  const dataDir = path.join(await temporaryFolder(), 'data');
  const env = {
    PORT: '0',
    REELFEED_DATA_DIR: dataDir,
    REELFEED_MIN_FREE_BYTES: '0',
    REELFEED_LOG_LEVEL: 'error',
  };
  // Interrupts the start when a given file appears: during cluster creation, and after it.
  for (const sign of ['postgres.password', 'postgres']) {
    const running = startMain({ env });
    await eventually(`${sign} to appear`, async () => {
      const names: string[] = await readdir(dataDir).catch(() => []);
      return names.includes(sign) ? true : null;
    });
    running.child.kill('SIGTERM');
    const { code, stderr } = await running.ended;
    assert.deepEqual([code, stderr], [0, '']);
    assert.deepEqual(await serverProcesses(dataDir), []);
  }
  const running = startMain({ env });
  await ready(running);
  running.child.kill('SIGTERM');
  assert.equal((await running.ended).code, 0);
  assert.deepEqual(await serverProcesses(dataDir), []);
});

test('Ctrl-C in a terminal, which also reaches the launcher, stops the service cleanly', async () => {
  const connection = await cloneDatabase();
  const env = {
    PORT: '0',
    DATABASE_URL: toUrl(connection),
    REELFEED_DATA_DIR: await temporaryFolder(),
    // Background work would also wait for the locked table and be mistaken for the request.
    REELFEED_ROLES: 'api',
    REELFEED_SECRET_KEY: secretKey,
    REELFEED_MIN_FREE_BYTES: '0',
    REELFEED_LOG_LEVEL: 'error',
  };
  const running = startCommand(['start'], { env, detached: true });
  const started = { ...running, url: await ready(running), connection, dataDir: '' };
  const held = await holdContent(connection);
  const answer = call(started, 'GET', '/v1/content');
  await held.waiting(1);
  process.kill(-running.pid, 'SIGINT');
  await draining(started);
  await held[Symbol.asyncDispose]();
  assert.equal((await answer).status, 200);
  assert.equal((await running.ended).code, 0);
});

test('an api process and a media process on one database share the work', async () => {
  const api = await start({ REELFEED_ROLES: 'api' });
  const upload = async (title: string): Promise<string> => {
    const { body } = await call(api, 'POST', '/v1/content/upload', { body: { title } });
    const { pathname, search } = new URL(body.data.uploadUrl);
    const { status } = await send(`${api.url}${pathname}${search}`, 'PUT', { body: clip });
    assert.equal(status, 200);
    return body.data.id;
  };
  const item = async (id: string) => (await call(api, 'GET', `/v1/content/${id}`)).body.data;
  const becomesReady = (id: string) =>
    eventually(
      'the item to be ready',
      async () => {
        const found = await item(id);
        assert.notEqual(found.uploadStatus, 'error', JSON.stringify(found.errorReason));
        return found.uploadStatus === 'ready' ? found : null;
      },
      60_000,
    );

  const first = await upload('Before there was anybody to process it');
  const workers = await start({ REELFEED_ROLES: 'worker,media' }, api);
  assert.match(workers.url, /^api|^worker/, 'it does not listen');
  const { streamingUrl } = await becomesReady(first);
  const { pathname } = new URL(streamingUrl);
  const playlist = await send(`${api.url}${pathname}`, 'GET');
  assert.equal(playlist.status, 200);
  assert.match(playlist.text, /^#EXTM3U/);
  // The other process's feed notices the change.
  await eventually('the feed to hold the item', async () => {
    const { body } = await call(api, 'GET', '/v1/feed');
    return body.data.some(({ id }: { id: string }) => id === first) ? true : null;
  });

  workers.child.kill('SIGTERM');
  assert.equal((await workers.ended).code, 0);
  const second = await upload('While nobody processes');
  await pause(500, 'somebody would process it');
  assert.notEqual((await item(second)).uploadStatus, 'ready');
  // A process that stops in the middle of its work hands it back.
  const stopped = await start({ REELFEED_ROLES: 'media' }, api);
  await eventually('the work to begin', async () => {
    const { uploadStatus, progress } = await item(second);
    return uploadStatus === 'ready' || progress > 0 ? true : null;
  });
  stopped.child.kill('SIGTERM');
  assert.equal((await stopped.ended).code, 0);
  await start({ REELFEED_ROLES: 'media' }, api);
  await becomesReady(second);
});

test('the launcher becomes the service, whose heap follows the machine unless NODE_OPTIONS says otherwise', async () => {
  const script = path.join(await temporaryFolder(), 'print.mjs');
  await writeFile(
    script,
    `import v8 from 'node:v8';
     process.stderr.write(JSON.stringify({ pid: process.pid, args: process.execArgv,
       heapMb: v8.getHeapStatistics().heap_size_limit / 2 ** 20 }));`,
  );
  const run = async (options: string) => {
    const started = startCommand(['help'], {
      env: { NODE_OPTIONS: `--import=${script} ${options}` },
    });
    const { stderr } = await started.ended;
    // The launcher prints first, then the process that replaces it.
    const lines = stderr.match(/\{.*?\}/g) ?? [];
    assert.equal(lines.length, 2, stderr);
    return { ...(JSON.parse(lines[1] ?? '') as Printed), launcher: started.pid };
  };
  const plain = await run('');
  assert.equal(plain.pid, plain.launcher);
  assert.ok(
    plain.args.some((arg) => /^--max-old-space-size=\d+$/.test(arg)),
    plain.args.join(' '),
  );
  assert.ok(plain.heapMb >= 500 && plain.heapMb < 4_300, `${plain.heapMb} MB`);
  const given = await run('--max-old-space-size=300');
  assert.ok(given.heapMb < 400, `${given.heapMb} MB`);
});

type Printed = { pid: number; args: string[]; heapMb: number };
