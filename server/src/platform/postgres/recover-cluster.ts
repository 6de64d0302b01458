/** Lets PostgreSQL replay the log that lies in a cluster's folder, up to a moment. */
import type { Logger } from 'pino';
import type { DataDirectory } from '../data-directory.ts';
import { openCluster } from './cluster.ts';
import { launchOf } from './embedded-postgres.ts';
import { startServerProcess } from './server-process.ts';
import { SUPERUSER } from './service-database.ts';
import { prepareSocketFolder } from './socket-folder.ts';

/** A day of log under load is replayed within it. */
const recoveryTimeoutMs = 24 * 60 * 60_000;

/**
 * The cluster has `recovery.signal` and its log in `pg_wal`. When this resolves, the server has stopped
 * again, and the next start is an ordinary one.
 *
 * @throws {EmbeddedPostgresError} with the server's last lines when the log ends before the moment
 */
export async function recoverCluster(options: {
  readonly dataDir: DataDirectory;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly to: Date;
}): Promise<void> {
  const { dataDir, log, signal, to } = options;
  const made = { dataDirectory: dataDir.path, superuser: SUPERUSER, password: '', durable: true };
  const cluster = await openCluster(made, signal);
  const launch = launchOf(cluster, await prepareSocketFolder(dataDir.path, cluster.account), {
    // Everything is in `pg_wal`, where the server looks next.
    restore_command: 'false',
    // With an offset in digits: names of zones are not known that early.
    recovery_target_time: to.toISOString().replace('T', ' ').replace('Z', '+00'),
    recovery_target_action: 'promote',
    recovery_target_timeline: 'current',
    // Nobody connects before the moment is reached: then the server is ready.
    hot_standby: false,
  });
  const server = await startServerProcess(launch, log, signal, recoveryTimeoutMs);
  await server.stop();
}
