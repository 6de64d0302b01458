/** Makes PostgreSQL replay the log in a cluster's folder up to a point in time. */
import type { Logger } from 'pino';
import type { DataDirectory } from '../data-directory/data-directory.ts';
import { openCluster } from './cluster.ts';
import { launchOf } from './embedded-postgres.ts';
import { startServerProcess } from './server-process.ts';
import { SUPERUSER } from './service-database.ts';
import { prepareSocketFolder } from './socket-folder.ts';

/** Long enough to replay a day of log under load. */
const recoveryTimeoutMs = 24 * 60 * 60_000;

/**
 * The cluster must contain `recovery.signal`, and its log in `pg_wal`. When this resolves, the
 * server has stopped again, and its next start is an ordinary one.
 *
 * @throws {EmbeddedPostgresError} with the server's last lines if the log ends before the target
 * time
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
    // The whole log is in `pg_wal`, where the server looks next.
    restore_command: 'false',
    // Uses a numeric offset, because time zone names are not available that early.
    recovery_target_time: to.toISOString().replace('T', ' ').replace('Z', '+00'),
    recovery_target_action: 'promote',
    recovery_target_timeline: 'current',
    // Connections are refused until the target time is reached, so a server that accepts them is
    // done.
    hot_standby: false,
  });
  const server = await startServerProcess(launch, log, signal, recoveryTimeoutMs);
  await server.stop();
}
