/** Runs the real service with its embedded database in a separate process, for benchmarks. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { openDatabase, type Database } from '../../server/src/platform/database/database.ts';
import { createLogger } from '../../server/src/platform/logging/logging.ts';
import { connectionToRunningServer } from '../../server/src/platform/postgres/running-server.ts';
import { generateKey } from '../../server/src/features/keys/keys.ts';

const launcher = fileURLToPath(new URL('../../server/bin/reelfeed.js', import.meta.url));

export type BenchService = AsyncDisposable & {
  url: string;
  dataDir: string;
  pid: number;
  secretKey: string;
  publishableKey: string;
  /** A pool on the service's own database, to fill it. */
  database: Database;
};

/**
 * Starts the service like `npm start` with a fresh data directory, and waits until it is ready.
 * With a `DATABASE_URL` it uses that database instead of an embedded one, and with a
 * `REELFEED_DATA_DIR` that directory, which then stays.
 */
export async function startBenchService(env: Record<string, string> = {}): Promise<BenchService> {
  const givenDir = env['REELFEED_DATA_DIR'];
  const dataDir = givenDir ?? (await mkdtemp(path.join(os.tmpdir(), 'reelfeed-bench-')));
  const port = await freePort();
  const secretKey = env['REELFEED_SECRET_KEY'] ?? generateKey('secret');
  const publishableKey = env['REELFEED_PUBLISHABLE_KEY'] ?? generateKey('publishable');
  const child = spawn(process.execPath, [launcher, 'start'], {
    env: {
      PATH: process.env['PATH'],
      PORT: String(port),
      REELFEED_DATA_DIR: dataDir,
      REELFEED_SECRET_KEY: secretKey,
      REELFEED_PUBLISHABLE_KEY: publishableKey,
      REELFEED_LOG_LEVEL: 'warn',
      REELFEED_MIN_FREE_BYTES: '0',
      ...env,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const url = `http://127.0.0.1:${port}`;
  try {
    await waitUntilReady(url);
  } catch (error) {
    child.kill('SIGTERM');
    throw error;
  }
  const outside = env['DATABASE_URL'];
  const connection =
    outside === undefined ? await connectionToRunningServer(dataDir) : { url: outside };
  const database = openDatabase({ connection, poolSize: 4, log: createLogger('error') });
  return {
    url,
    dataDir,
    pid: child.pid ?? 0,
    secretKey,
    publishableKey,
    database,
    async [Symbol.asyncDispose]() {
      await database[Symbol.asyncDispose]();
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
      if (givenDir === undefined) await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function waitUntilReady(url: string): Promise<void> {
  for (let attempt = 0; attempt < 2_400; attempt += 1) {
    const answer = await fetch(`${url}/readyz`).catch(() => null);
    if (answer?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('The service did not become ready.');
}

export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
