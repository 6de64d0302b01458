/** The service as processes of its own, to be killed and to share one database. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { DatabaseConnection } from '../src/platform/database/database.ts';
import { eventually, send, toUrl } from './service.ts';

const mainScript = fileURLToPath(new URL('../src/main.ts', import.meta.url));

export type ServiceProcess = {
  url: string;
  pid: number;
  /** kill -9, and waits until it is gone. */
  kill(): Promise<void>;
};

/**
 * Starts a process on a database that exists and waits until it is ready. One that still runs at
 * the end of the test file is killed.
 */
export async function startProcess(
  connection: DatabaseConnection,
  dataDir: string,
  env: Record<string, string> = {},
): Promise<ServiceProcess> {
  const port = await freePort();
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', mainScript], {
    env: {
      PATH: process.env['PATH'],
      PORT: String(port),
      REELFEED_DATA_DIR: dataDir,
      DATABASE_URL: toUrl(connection),
      REELFEED_LOG_LEVEL: 'error',
      REELFEED_MIN_FREE_BYTES: '0',
      ...env,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const kill = () => killAndWait(child);
  after(kill);
  const url = `http://127.0.0.1:${port}`;
  await eventually(`${url} to be ready`, async () => {
    if (child.exitCode !== null) throw new Error(`the process ended with ${child.exitCode}`);
    const answer = await send(`${url}/readyz`, 'GET').catch(() => null);
    return answer?.status === 200 ? true : null;
  });
  return { url, pid: child.pid ?? 0, kill };
}

async function killAndWait(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('The probe has no port.');
  return address.port;
}
