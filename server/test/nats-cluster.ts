/** Three NATS servers with JetStream on loopback, which tests kill, freeze and wipe. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { atEnd } from './database.ts';
import { freePort, temporaryFolder } from './service.ts';
import { eventually } from './waiting.ts';

export const hasNatsServer = spawnSync('nats-server', ['--version']).status === 0;

type Node = { server: string; folder: string; config: string; child: ChildProcess | null };

export type NatsCluster = {
  /** `host:port` of each server. */
  readonly servers: readonly string[];
  /** kill -9. */
  kill(node: number): Promise<void>;
  start(node: number): void;
  /** Deletes the data of a stopped server. */
  empty(node: number): Promise<void>;
  freeze(node: number): void;
  thaw(node: number): void;
  /** Waits until this many servers hold a stream completely. */
  untilComplete(stream: string, count: number): Promise<void>;
};

export async function startNatsCluster(size = 3): Promise<NatsCluster> {
  const folder = await temporaryFolder();
  const ports = await Promise.all(Array.from({ length: size * 2 }, () => freePort()));
  const routes = ports.slice(size).map((port) => `nats://127.0.0.1:${port}`);
  const nodes: Node[] = [];
  for (let n = 0; n < size; n += 1) {
    const own = path.join(folder, `node${n}`);
    await mkdir(own);
    const config = path.join(own, 'nats.conf');
    await writeFile(
      config,
      `server_name: node${n}
       listen: "127.0.0.1:${ports[n]}"
       jetstream { store_dir: "${own}/jetstream", max_file_store: 1GB }
       cluster { name: test, listen: "127.0.0.1:${ports[size + n]}", routes: [${routes.join(', ')}] }`,
    );
    nodes.push({ server: `127.0.0.1:${ports[n]}`, folder: own, config, child: null });
  }
  const at = (n: number): Node => {
    const node = nodes[n];
    if (node === undefined) throw new Error(`There is no node ${n}.`);
    return node;
  };
  const start = (n: number) => {
    at(n).child = spawn('nats-server', ['-c', at(n).config], { stdio: 'ignore' });
  };
  const signal = (n: number, name: NodeJS.Signals) => at(n).child?.kill(name);
  for (let n = 0; n < size; n += 1) start(n);
  atEnd(async () => {
    for (const { child } of nodes) child?.kill('SIGKILL');
  });
  const servers = nodes.map(({ server }) => server);
  await eventually('the cluster to elect a leader', () =>
    managing(servers, (manager) => manager.getAccountInfo()),
  );
  return {
    servers,
    start,
    async kill(n) {
      const { child } = at(n);
      if (child === null) return;
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      at(n).child = null;
    },
    empty: (n) => rm(path.join(at(n).folder, 'jetstream'), { recursive: true }),
    freeze: (n) => void signal(n, 'SIGSTOP'),
    thaw: (n) => void signal(n, 'SIGCONT'),
    async untilComplete(stream, count) {
      await eventually(
        `${count} complete copies of ${stream}`,
        async () => {
          const info = await managing(servers, (manager) => manager.streams.info(stream));
          const { leader = '', replicas = [] } = info?.cluster ?? {};
          const current = replicas.filter((replica) => replica.current && !replica.offline).length;
          return leader !== '' && current + 1 >= count ? true : null;
        },
        60_000,
      );
    },
  };
}

type Manager = Awaited<ReturnType<typeof jetstreamManager>>;

/** @returns null while the cluster does not respond */
async function managing<T>(
  servers: readonly string[],
  work: (manager: Manager) => Promise<T>,
): Promise<T | null> {
  try {
    const connection = await connect({ servers: [...servers], timeout: 1_000 });
    try {
      return await work(await jetstreamManager(connection, { timeout: 2_000 }));
    } finally {
      await connection.close();
    }
  } catch {
    return null;
  }
}
