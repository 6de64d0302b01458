/** The service with its own database, as a process that can be killed and restarted. */
import assert from 'node:assert/strict';
import { Client } from 'pg';
import { poolConnection } from '../src/platform/database/database.ts';
import { connectionToRunningServer } from '../src/platform/postgres/running-server.ts';
import { atEnd } from './database.ts';
import { ready, startMain, type RunningProcess } from './processes.ts';
import { send, type Call, type TestService } from './service.ts';

/** One run of the service. Its key is that of the first start on the data directory. */
export type Instance = {
  dataDir: string;
  url: string;
  secretKey: string;
  process: RunningProcess;
  call: TestService['call'];
};

export async function startInstance(
  dataDir: string,
  env: Record<string, string> = {},
): Promise<Instance> {
  const running = startMain({
    env: {
      PORT: '0',
      REELFEED_DATA_DIR: dataDir,
      REELFEED_LOG_LEVEL: 'error',
      REELFEED_MIN_FREE_BYTES: '0',
      // Tests wait for media processing while other tests compete for the CPU.
      REELFEED_MEDIA_NICENESS: '0',
      ...env,
    },
  });
  const url = await ready(running);
  const instance: Instance = {
    dataDir,
    url,
    secretKey: /Secret key +(rf_sk_\w+)/.exec(running.output.stdout)?.[1] ?? '',
    process: running,
    call: (method, path, call: Call = {}) =>
      send(`${url}${path}`, method, { key: instance.secretKey, ...call }),
  };
  return instance;
}

/** Restarts a stopped service on the same data directory. */
export async function restartInstance(
  before: Instance,
  env: Record<string, string> = {},
): Promise<Instance> {
  const instance = await startInstance(before.dataDir, env);
  assert.equal(instance.secretKey, '', 'keys are shown by the first start only');
  instance.secretKey = before.secretKey;
  return instance;
}

export async function stopInstance(instance: Instance): Promise<void> {
  instance.process.child.kill('SIGTERM');
  const { code, signal, stderr } = await instance.process.ended;
  assert.deepEqual([code, signal], [0, null], stderr);
}

/** kill -9 of the service; its database server is left for the next start. */
export async function killInstance(instance: Instance): Promise<void> {
  instance.process.child.kill('SIGKILL');
  await instance.process.ended;
}

/** A separate connection to the service's database. The server's end is not an error. */
export async function connectTo(instance: Instance): Promise<Client> {
  const connection = await connectionToRunningServer(instance.dataDir);
  const client = new Client(poolConnection(connection));
  client.on('error', () => undefined);
  await client.connect();
  atEnd(() => client.end().catch(() => undefined));
  return client;
}

/** Kills the service at the first write to a table, before the transaction can commit. */
export async function killBeforeWrite(
  instance: Instance,
  table: string,
  work: () => Promise<void>,
): Promise<void> {
  const client = await connectTo(instance);
  await client.query(`begin; lock table ${table} in exclusive mode`);
  await work();
  await killInstance(instance);
}
