/** A multi-process installation on replicated engines, for tests of everything together. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { generateKey } from '../src/features/keys/key-format.ts';
import { startBalancer, type Balancer } from './balancer.ts';
import { atEnd } from './database.ts';
import { freePort } from './live-publisher.ts';
import { startNatsCluster, type NatsCluster } from './nats-cluster.ts';
import { startPostgresPair, type PostgresPair } from './postgres-pair.ts';
import { ready, startMain, type RunningProcess } from './processes.ts';
import { authority, startReceiver, type Receiver } from './receiver.ts';
import { eventually, temporaryFolder } from './service.ts';

export type Member = {
  readonly roles: string;
  readonly env: Record<string, string>;
  running: RunningProcess;
};

export type Cluster = {
  readonly balancer: Balancer;
  readonly postgres: PostgresPair;
  readonly nats: NatsCluster;
  readonly receiver: Receiver;
  readonly secretKey: string;
  readonly rtmpPort: number;
  readonly members: readonly Member[];
  /** Sends SIGTERM, waits for a clean exit, and starts a replacement. */
  restart(member: Member): Promise<void>;
  /** kill -9 without a replacement. */
  kill(member: Member): Promise<void>;
  start(member: Member): Promise<void>;
};

const probeIntervalMs = 500;
export const stream = 'EVERYTHING';

/**
 * Starts three NATS servers, a primary with its synchronous replica, and one process per entry of
 * `roles`.
 */
export async function startCluster(roles: readonly string[]): Promise<Cluster> {
  const postgres = await startPostgresPair();
  const nats = await startNatsCluster();
  const receiver = await startReceiver(() => 204);
  const balancer = await startBalancer(probeIntervalMs);
  atEnd(() => balancer[Symbol.asyncDispose]());
  const dataDir = await temporaryFolder();
  const caFile = path.join(dataDir, 'authority.pem');
  await writeFile(caFile, authority.cert);
  const secretKey = generateKey('secret');
  const rtmpPort = await freePort();
  const shared = {
    PORT: '0',
    DATABASE_URL: postgres.url,
    REELFEED_DATA_DIR: dataDir,
    REELFEED_EVENT_LOG: `nats://${nats.servers.join(',')}/${stream}`,
    REELFEED_PUBLIC_URL: balancer.url,
    REELFEED_SECRET_KEY: secretKey,
    REELFEED_MIN_FREE_BYTES: '0',
    REELFEED_LOG_LEVEL: 'error',
    REELFEED_MEDIA_NICENESS: '0',
    // Longer than the balancer needs to notice that a process is no longer ready.
    REELFEED_DRAIN_DELAY: '2s',
    REELFEED_EGRESS_ALLOW: receiver.allow,
    REELFEED_WEBHOOK_RETRY_SCHEDULE: '0s,1s,5s,20s,60s',
    NODE_EXTRA_CA_CERTS: caFile,
  };
  const apis = roles.filter((role) => role === 'api').length;
  const allHealthy = () =>
    eventually(
      'every API process to be healthy',
      async () => (balancer.healthy() === apis ? true : null),
      60_000,
    );
  const begin = async (memberRoles: string, env: Record<string, string>) => {
    const running = startMain({ env });
    const url = await ready(running);
    if (memberRoles === 'api') {
      balancer.add(url);
    }
    return running;
  };
  const members: Member[] = [];
  for (const [index, role] of roles.entries()) {
    // Only one process accepts broadcasts, so that its encoder can reconnect to the same port.
    const isIngest = index === roles.indexOf('worker');
    const own = { REELFEED_ROLES: role, ...(isIngest && { REELFEED_RTMP_PORT: String(rtmpPort) }) };
    const env = { ...shared, ...own };
    members.push({ roles: role, env, running: await begin(role, env) });
  }
  await allHealthy();
  const start = async (member: Member) => {
    member.running = await begin(member.roles, member.env);
    await allHealthy();
  };
  return {
    balancer,
    postgres,
    nats,
    receiver,
    secretKey,
    rtmpPort,
    members,
    start,
    async restart(member) {
      member.running.child.kill('SIGTERM');
      const { code, stderr } = await member.running.ended;
      assert.deepEqual(
        [code, stderr],
        [0, ''],
        `the end of a process with the role ${member.roles}`,
      );
      await start(member);
    },
    async kill({ running }) {
      running.child.kill('SIGKILL');
      await running.ended;
    },
  };
}
