/**
 * Proves that an unhandled error costs no request: the process completes those in progress and
 * restarts under the same id, and gives up when that happens too often.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { generateKey } from '../src/features/keys/key-format.ts';
import { cloneDatabase } from './database.ts';
import { sampleBytes } from './media.ts';
import { ready, startMain, type RunningProcess } from './processes.ts';
import { eventually, freePort, send, temporaryFolder, toUrl } from './service.ts';

const fixture = new URL('./uncaught-errors.fixture.ts', import.meta.url).href;
const secretKey = generateKey('secret');
const clip = await sampleBytes('small.mp4');
const connection = await cloneDatabase();
const dataDir = await temporaryFolder();

type Started = RunningProcess & { url: string };

async function start(env: Record<string, string> = {}): Promise<Started> {
  const running = startMain({
    env: {
      PORT: String(await freePort()),
      DATABASE_URL: toUrl(connection),
      REELFEED_DATA_DIR: dataDir,
      REELFEED_SECRET_KEY: secretKey,
      REELFEED_ROLES: 'api',
      REELFEED_DRAIN_DELAY: '0s',
      REELFEED_MIN_FREE_BYTES: '0',
      REELFEED_LOG_LEVEL: 'error',
      NODE_OPTIONS: `--disable-warning=ExperimentalWarning --import=${fixture}`,
      ...env,
    },
  });
  return { ...running, url: await ready(running) };
}

/** Waits until the error has been logged `count` times. */
const logged = ({ output }: Started, count = 1) =>
  eventually('the error to be logged', async () =>
    output.stderr.split('planted rejection').length - 1 >= 2 * count ? true : null,
  );

/** The status of `/readyz`, or null while nothing listens. */
const readiness = ({ url }: Started) =>
  send(`${url}/readyz`, 'GET').then(
    ({ status }) => status,
    () => null,
  );

const started = ({ output }: Started) => output.stdout.split('Reelfeed is ready').length - 1;

async function startedAgain(service: Started, times: number): Promise<void> {
  await eventually('the process to be back', async () =>
    started(service) > times && (await readiness(service)) === 200 ? true : null,
  );
}

/** A half-sent upload. */
async function beginUpload({ url }: Started): Promise<ClientRequest> {
  const made = await send(`${url}/v1/content/upload`, 'POST', {
    key: secretKey,
    body: { title: 'Slow' },
  });
  assert.equal(made.status, 201, made.text);
  const { pathname, search } = new URL(made.body.data.uploadUrl);
  const sending = request(`${url}${pathname}${search}`, {
    method: 'PUT',
    headers: { 'content-length': clip.length },
  });
  await new Promise((resolve) => sending.write(clip.subarray(0, clip.length >> 1), resolve));
  return sending;
}

async function finishUpload(sending: ClientRequest): Promise<number | undefined> {
  sending.end(clip.subarray(clip.length >> 1));
  const [answer] = (await once(sending, 'response')) as [IncomingMessage];
  answer.resume();
  return answer.statusCode;
}

async function counted({ url }: Started): Promise<number> {
  const { text } = await send(`${url}/metrics`, 'GET');
  return Number(/^process_uncaught_errors_total (\d+)$/m.exec(text)?.[1]);
}

test('after an unhandled rejection requests are still answered, and the same process restarts', async () => {
  const service = await start({ REELFEED_DRAIN_DELAY: '2s' });
  assert.equal(await counted(service), 0);
  const upload = await beginUpload(service);
  process.kill(service.pid, 'SIGUSR2');
  await logged(service);
  assert.equal(await readiness(service), 503, 'a load balancer is told');
  await eventually('the count to be seen before the restart', async () =>
    (await counted(service)) === 1 ? true : null,
  );
  const served = await send(`${service.url}/v1/content?limit=1`, 'GET', { key: secretKey });
  assert.equal(served.status, 200, 'it serves until the drain delay is over');
  assert.equal(await finishUpload(upload), 200);
  await startedAgain(service, 1);
  assert.equal(service.child.exitCode, null);
  assert.equal(await counted(service), 1, 'and after it');
  const lines = service.output.stderr.trim().split('\n');
  assert.equal(lines.length, 1, service.output.stderr);
  const line = JSON.parse(lines[0] ?? '') as { level: string; err: { stack: string } };
  assert.equal(line.level, 'error');
  assert.match(line.err.stack, /uncaught-errors\.fixture/);

  process.kill(service.pid, 'SIGUSR2');
  await startedAgain(service, 2);
  assert.equal(await counted(service), 2);
  service.child.kill('SIGTERM');
  assert.equal((await service.ended).code, 0);
});

test('a repeated error ends the process with exit code 1', async () => {
  const now = Date.now();
  const recent = Array.from({ length: 5 }, (_, index) => now - index * 1_000);
  const service = await start({ _REELFEED_UNCAUGHT_ERRORS: [7, ...recent].join(',') });
  assert.equal(await counted(service), 7);
  process.kill(service.pid, 'SIGUSR2');
  const { code, stderr } = await service.ended;
  assert.equal(code, 1);
  assert.match(stderr, /process exiting because of uncaught errors/);
});

test('a stop signal during the restart, and an error during a stop, end the process', async () => {
  const failing = await start();
  const first = await beginUpload(failing);
  process.kill(failing.pid, 'SIGUSR2');
  await logged(failing);
  failing.child.kill('SIGTERM');
  assert.equal(await finishUpload(first), 200);
  assert.equal((await failing.ended).code, 0, 'it was told to stop');

  const stopping = await start();
  const second = await beginUpload(stopping);
  stopping.child.kill('SIGTERM');
  await eventually('the service to drain', async () =>
    (await readiness(stopping)) === 200 ? null : true,
  );
  process.kill(stopping.pid, 'SIGUSR2');
  await logged(stopping);
  assert.equal(await finishUpload(second), 200);
  assert.equal((await stopping.ended).code, 1, 'it did not stop in good order');
});
