/** Rolling restarts of processes behind a load balancer, under load. */
import assert from 'node:assert/strict';
import { generateKey } from '../src/features/keys/key-format.ts';
import { startBalancer } from './balancer.ts';
import { cloneDatabase } from './database.ts';
import { ready, startMain, type RunningProcess } from './processes.ts';
import { eventually, send, temporaryFolder, toUrl } from './service.ts';
import { pause } from './waiting.ts';

export type RestartOptions = {
  processes: number;
  restarts: number;
  probeIntervalMs: number;
  /** `REELFEED_DRAIN_DELAY`, or undefined for the default. */
  drainDelay?: string;
};

/** Restarts processes in turn while clients read and write. Returns the clients' responses. */
export async function restartInTurn(
  options: RestartOptions,
): Promise<{ answered: number; failures: string[] }> {
  const key = generateKey('secret');
  const env = {
    PORT: '0',
    DATABASE_URL: toUrl(await cloneDatabase()),
    REELFEED_DATA_DIR: await temporaryFolder(),
    REELFEED_SECRET_KEY: key,
    REELFEED_MIN_FREE_BYTES: '0',
    REELFEED_LOG_LEVEL: 'error',
    REELFEED_ROLES: 'api',
    ...(options.drainDelay !== undefined && { REELFEED_DRAIN_DELAY: options.drainDelay }),
  };
  await using balancer = await startBalancer(options.probeIntervalMs);
  const startOne = async () => {
    const running = startMain({ env });
    balancer.add(await ready(running));
    return running;
  };
  const allHealthy = () =>
    eventually(
      'all to be healthy',
      async () => (balancer.healthy() === options.processes ? true : null),
      60_000,
    );
  const processes: RunningProcess[] = [];
  for (let n = 0; n < options.processes; n += 1) processes.push(await startOne());
  await allHealthy();

  const failures: string[] = [];
  let answered = 0;
  let over = false;
  const clients = Array.from({ length: 4 }, async (_, client) => {
    for (let turn = 0; !over; turn += 1) {
      const isWrite = turn % 4 === 0;
      const reply = isWrite
        ? await send(`${balancer.url}/v1/content/upload`, 'POST', { key, body: { title: 'x' } })
        : await send(`${balancer.url}/v1/content?limit=1`, 'GET', { key });
      answered += 1;
      if (reply.status >= 300) failures.push(`client ${client}: ${reply.status} ${reply.text}`);
      await pause(20, 'fifty requests a second');
    }
  });
  for (let n = 0; n < options.restarts; n += 1) {
    const old = processes.shift();
    assert.ok(old !== undefined);
    old.child.kill('SIGTERM');
    const { code, stderr } = await old.ended;
    assert.deepEqual([code, stderr], [0, '']);
    processes.push(await startOne());
    await allHealthy();
  }
  over = true;
  await Promise.all(clients);
  return { answered, failures };
}
