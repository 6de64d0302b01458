/**
 * The database server that the service runs for itself, so that operators only have to start one
 * program.
 *
 * States of the supervisor: running, restarting (the server exited on its own), disposed.
 * Invariants: (1) the connection parameters never change, so a pool finds the restarted server
 * without help; (2) after disposal, no process of the server is left; (3) the connection is not
 * handed out before the durability check has passed; a restarted server has the same command line,
 * which overrides every settings file.
 */
import type { Logger } from 'pino';
import type { DataDirectory } from '../data-directory/data-directory.ts';
import { background } from '../async/lifecycle.ts';
import { invocationFor } from './account.ts';
import { type Cluster, openCluster } from './cluster.ts';
import { EmbeddedPostgresError } from './embedded-postgres-error.ts';
import { clearLeftovers } from './leftovers.ts';
import { PASSWORD_FILE, readOrCreatePassword, resetServerPassword } from './password.ts';
import {
  checkServer,
  DATABASE,
  type EmbeddedConnection,
  ensureDatabase,
  ROLE,
  SUPERUSER,
} from './service-database.ts';
import { type ServerLaunch, type ServerProcess, startServerProcess } from './server-process.ts';
import { type ServerSettings, settingArguments } from './settings.ts';
import { prepareSocketFolder, SOCKET_PORT } from './socket-folder.ts';

export type EmbeddedPostgresOptions = {
  /** Must be claimed by this process. Otherwise the start could stop another process's server. */
  readonly dataDir: DataDirectory;
  readonly log: Logger;
  /** Override the defaults of settings.ts, except for the socket's location and the log format. */
  readonly settings?: ServerSettings;
  /** False for throwaway data: the server may then run with fsync off. Default: true. */
  readonly durabilityChecked?: boolean;
  /** Aborts the start. To stop a running server, dispose of it. */
  readonly signal: AbortSignal;
};

/** A running server that is restarted if it exits unexpectedly. */
export class EmbeddedPostgres implements AsyncDisposable {
  readonly connection: EmbeddedConnection;
  /** The same database as a superuser, for backups. Both roles share one password. */
  readonly superuserConnection: EmbeddedConnection;
  /** The server's version, for example '18.4'. */
  readonly version: string;
  readonly folder: string;
  #server: ServerProcess | undefined;
  readonly #supervisor: AsyncDisposable;

  constructor(
    connection: EmbeddedConnection,
    version: string,
    first: ServerProcess,
    launch: ServerLaunch,
    log: Logger,
  ) {
    this.connection = connection;
    this.superuserConnection = { ...connection, user: SUPERUSER };
    this.version = version;
    this.folder = launch.cluster;
    this.#server = first;
    const supervise = (signal: AbortSignal): Promise<void> => this.#run(launch, log, signal);
    this.#supervisor = background('embedded PostgreSQL', supervise, log);
  }

  /** The server's process id; undefined during a restart. */
  get pid(): number | undefined {
    return this.#server?.pid;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#supervisor[Symbol.asyncDispose]();
  }

  /**
   * One run of the server. Rejects if the server exited on its own, so that the caller restarts it.
   */
  async #run(launch: ServerLaunch, log: Logger, signal: AbortSignal): Promise<void> {
    if (!this.#server) {
      this.#server = await startServerProcess(launch, log, signal);
      log.warn({ pid: this.#server.pid }, 'PostgreSQL is running again');
    }
    const server = this.#server;
    const listening = new AbortController();
    const stopRequested = new Promise<undefined>((resolve) => {
      const options = { once: true, signal: listening.signal };
      if (signal.aborted) resolve(undefined);
      else signal.addEventListener('abort', () => resolve(undefined), options);
    });
    const exit = await Promise.race([server.exited, stopRequested]);
    listening.abort();
    if (exit === undefined) await server.stop();
    this.#server = undefined;
    if (exit === undefined) return;
    log.warn({ pid: server.pid, exit }, 'PostgreSQL exited unexpectedly');
    throw new EmbeddedPostgresError(`PostgreSQL ${exit}.`);
  }
}

/**
 * Starts the embedded server on a claimed data directory and resolves when the service's database
 * is usable. The first start creates the cluster, which takes about a second longer.
 *
 * @throws {EmbeddedPostgresError} if it can't run, with advice for the operator
 * @throws the signal's reason if it was aborted. In both cases, no process is left running.
 */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const { dataDir, signal, durabilityChecked = true } = options;
  const log = options.log.child({ component: 'postgres' });
  const startedAtMs = performance.now();
  const password = await readOrCreatePassword(dataDir.path);
  const secrets = { superuser: SUPERUSER, password: password.value };
  const cluster = await openCluster(
    { dataDirectory: dataDir.path, ...secrets, durable: durabilityChecked },
    signal,
  );
  const socketFolder = await prepareSocketFolder(dataDir.path, cluster.account);
  const connection = {
    host: socketFolder,
    port: SOCKET_PORT,
    user: ROLE,
    password: password.value,
    database: DATABASE,
  };
  if (password.isNew && !cluster.isNew) {
    log.warn(`${PASSWORD_FILE} is missing; setting a new database password`);
    await clearLeftovers(cluster.folder, socketFolder, log, signal);
    await resetServerPassword(
      { ...cluster, roles: [SUPERUSER, ROLE], password: password.value },
      signal,
    );
  }
  const launch = launchOf(cluster, socketFolder, options.settings ?? {});
  const server = await startServerProcess(launch, log, signal);
  try {
    await ensureDatabase({ ...connection, user: SUPERUSER, database: 'postgres' });
    const version = await checkServer(connection, durabilityChecked);
    signal.throwIfAborted();
    const durationMs = Math.round(performance.now() - startedAtMs);
    log.info(
      { pid: server.pid, version, account: cluster.account.kind, durationMs },
      'PostgreSQL is ready',
    );
    return new EmbeddedPostgres(connection, version, server, launch, log);
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** Options for starting the server of a cluster. */
export function launchOf(
  cluster: Cluster,
  socketFolder: string,
  settings: ServerSettings,
): ServerLaunch {
  const args = [
    '-D',
    cluster.folder,
    ...settingArguments(socketFolder, settings, cluster.binaries.major),
  ];
  const invocation = invocationFor(cluster.account, cluster.binaries.postgres, args);
  return { invocation, cluster: cluster.folder, socketFolder };
}
