/**
 * A PostgreSQL server and its synchronous streaming replica on loopback, which tests kill and
 * promote.
 */
import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { appendFile, chown } from 'node:fs/promises';
import { existsSync, globSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { atEnd } from './database.ts';
import { run } from './outside-postgres.ts';
import { freePort, temporaryFolder } from './service.ts';
import { eventually } from './waiting.ts';

const runFile = promisify(execFile);
const user = 'reelfeed';

/** Programs of an installed PostgreSQL; the embedded one lacks `pg_basebackup`. */
const binaries = globSync('/usr/lib/postgresql/*/bin')
  .toSorted()
  .findLast((folder) => existsSync(path.join(folder, 'pg_basebackup')));

/** PostgreSQL refuses to run as root. */
function findAccount(): { uid?: number; gid?: number } | null {
  if (process.getuid?.() !== 0) return {};
  try {
    const idOf = (option: string) => Number(execFileSync('id', [option, 'postgres']));
    return { uid: idOf('-u'), gid: idOf('-g') };
  } catch {
    return null;
  }
}

const account = findAccount();
export const hasReplication = binaries !== undefined && account !== null;

type Server = { readonly port: number; readonly folder: string; child: ChildProcess | null };

export type PostgresPair = {
  /** One URL with both hosts. */
  readonly url: string;
  urlOf(server: 0 | 1): string;
  /** kill -9 of a server. */
  kill(server: 0 | 1): void;
  /** Restarts a killed server in its previous role. */
  restart(server: 0 | 1): Promise<void>;
  /** Promotes the replica to primary. */
  promote(): Promise<void>;
};

/**
 * Starts both with a database `reelfeed`. Commits wait for the replica unless `isSynchronous` is
 * false.
 */
export async function startPostgresPair({ isSynchronous = true } = {}): Promise<PostgresPair> {
  const folder = await temporaryFolder();
  if (account?.uid !== undefined) await chown(folder, account.uid, account.gid ?? 0);
  const servers: [Server, Server] = [
    await makeServer(folder, 'one'),
    await makeServer(folder, 'two'),
  ];
  const [primary, replica] = servers;
  const urlOf = (server: 0 | 1, database = 'reelfeed') =>
    `postgres://${user}@127.0.0.1:${servers[server].port}/${database}`;
  const started = async (server: 0 | 1) => {
    start(servers[server]);
    await eventually(`PostgreSQL ${server} to start`, () =>
      run(urlOf(server, 'postgres'), 'select 1').catch(() => null),
    );
  };
  atEnd(async () => {
    for (const server of servers) killAll(server);
  });
  await program('initdb', ['-D', primary.folder, '-U', user, '-A', 'trust', '-E', 'UTF8', '-N']);
  await appendFile(
    path.join(primary.folder, 'postgresql.conf'),
    `listen_addresses = '127.0.0.1'\nunix_socket_directories = ''\nshared_buffers = 32MB\n`,
  );
  await started(0);
  await run(urlOf(0, 'postgres'), 'create database reelfeed');
  const from = ['-h', '127.0.0.1', '-p', String(primary.port), '-U', user];
  await program('pg_basebackup', [
    ...from,
    '-D',
    replica.folder,
    '-R',
    '-X',
    'stream',
    '-c',
    'fast',
  ]);
  await started(1);
  if (isSynchronous) await run(urlOf(0), `alter system set synchronous_standby_names = '*'`);
  await run(urlOf(0), 'select pg_reload_conf()');
  const wanted = isSynchronous ? 'sync' : 'async';
  await eventually(`the replica to be ${wanted}`, async () => {
    const rows = await run(
      urlOf(0),
      `select from pg_stat_replication where sync_state = '${wanted}'`,
    );
    return rows.length === 1 ? true : null;
  });
  const hosts = servers.map(({ port }) => `127.0.0.1:${port}`).join(',');
  return {
    url: `postgres://${user}@${hosts}/reelfeed?target_session_attrs=read-write`,
    urlOf,
    kill: (server) => killAll(servers[server]),
    async restart(server) {
      // Processes of the killed server may hold its memory for a moment.
      await eventually(`PostgreSQL ${server} to start again`, async () => {
        const { child } = servers[server];
        if (child === null || child.exitCode !== null || child.signalCode !== null) {
          start(servers[server]);
        }
        return run(urlOf(server), 'select 1').catch(() => null);
      });
    },
    async promote() {
      await run(urlOf(1), 'select pg_promote()');
    },
  };
}

async function makeServer(folder: string, name: string): Promise<Server> {
  return { port: await freePort(), folder: path.join(folder, name), child: null };
}

function start(server: Server): void {
  const args = ['-D', server.folder, '-p', String(server.port)];
  const options = { ...account, stdio: 'ignore', detached: true } as const;
  server.child = spawn(path.join(binaries ?? '', 'postgres'), args, options);
}

function killAll({ child }: Server): void {
  if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  // Backends have their own process groups; without their postmaster they end by themselves.
  child.kill('SIGKILL');
}

async function program(name: string, args: readonly string[]): Promise<void> {
  await runFile(path.join(binaries ?? '', name), args, { ...account });
}
