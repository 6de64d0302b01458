/** The server's settings, including those that the durability of a commit depends on. */
import type { Client } from 'pg';
import { EmbeddedPostgresError } from './embedded-postgres-error.ts';
import { SOCKET_PORT } from './socket-folder.ts';

/** PostgreSQL settings by name, with values as in postgresql.conf. */
export type ServerSettings = Readonly<Record<string, string | number | boolean>>;

/**
 * Sized for a machine that runs the whole service: about 20 MB resident when idle, growing with use
 * by the shared buffers and a few megabytes per open connection.
 */
const defaultSettings: ServerSettings = {
  shared_buffers: '64MB',
  max_connections: 60,
  work_mem: '8MB',
  maintenance_work_mem: '64MB',
  effective_cache_size: '512MB',
  autovacuum_max_workers: 2,
  // Few processes: parallel queries share two workers, asynchronous I/O uses two more.
  max_worker_processes: 4,
  max_parallel_workers: 2,
  max_logical_replication_workers: 0,
  io_method: 'worker',
  io_workers: 2,
  // Compiling takes longer than this service's short statements run.
  jit: false,
  // No replication, but enough log for an online backup of the files, which 'minimal' rules out.
  wal_level: 'replica',
  max_wal_senders: 0,
  // Maximum log kept here while the archive is unavailable.
  max_slot_wal_keep_size: '4GB',
  // Recovery after a crash reads at most this much log, because it must finish within seconds.
  max_wal_size: '1GB',
  checkpoint_timeout: '15min',
  track_io_timing: true,
  timezone: 'UTC',
  log_timezone: 'UTC',
};

/**
 * Default settings that older servers do not know, with the first major version that knows them.
 */
const knownSince: Readonly<Record<string, number>> = { io_method: 18, io_workers: 18 };

/** Settings that durability depends on, with PostgreSQL's names and values. */
const durableSettings: ServerSettings = {
  fsync: true,
  full_page_writes: true,
  synchronous_commit: true,
  // After a failed page write, a second attempt must not report success.
  data_sync_retry: false,
  restart_after_crash: true,
  zero_damaged_pages: false,
  ignore_checksum_failure: false,
};

/** Settings that the supervisor depends on; they cannot be overridden. */
function fixedSettings(socketFolder: string): ServerSettings {
  return {
    listen_addresses: '',
    port: SOCKET_PORT,
    // The value is a comma-separated list of names; quotes protect commas and spaces in a path.
    unix_socket_directories: `"${socketFolder.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0700',
    cluster_name: 'reelfeed',
    logging_collector: false,
    log_destination: 'stderr',
    log_line_prefix: '%b[%p] %e ',
    lc_messages: 'C',
    // Statements can contain data of viewers and customers, which does not belong in logs.
    log_min_error_statement: 'panic',
    log_parameter_max_length_on_error: 0,
  };
}

/** The command-line arguments for the settings; the command line overrides every settings file. */
export function settingArguments(
  socketFolder: string,
  overrides: ServerSettings,
  major: string,
): readonly string[] {
  const known = ([name]: [string, unknown]) => (knownSince[name] ?? 0) <= Number(major);
  const settings = {
    ...Object.fromEntries(Object.entries(defaultSettings).filter(known)),
    ...durableSettings,
    ...overrides,
    ...fixedSettings(socketFolder),
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${written(value)}`]);
}

/**
 * Asks the running server, in a session like the service's, for the effective values: overrides and
 * settings of the role or the database can differ from the command line.
 *
 * @throws {EmbeddedPostgresError} naming each setting that would break durability
 */
export async function checkDurability(client: Client): Promise<void> {
  const expected: ServerSettings = { ...durableSettings, data_checksums: true };
  const { rows } = await client.query<{ name: string; setting: string }>(
    'select name, setting from pg_settings where name = any($1::text[])',
    [Object.keys(expected)],
  );
  const actual = new Map(rows.map((row) => [row.name, row.setting]));
  const wrong = Object.entries(expected).flatMap(([name, value]) => {
    const setting = actual.get(name) ?? 'unknown';
    return setting === written(value) ? [] : [`${name} is ${setting} instead of ${written(value)}`];
  });
  if (wrong.length === 0) return;
  throw new EmbeddedPostgresError(
    `The embedded database could lose committed data: ${wrong.join(', ')}. ` +
      'Revert the changes to these settings (ALTER SYSTEM, ALTER ROLE or ALTER DATABASE).',
  );
}

function written(value: string | number | boolean): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  return String(value);
}
