/** The checks of `reelfeed doctor`, in this order. The checks of features come after them. */
import { mkdtemp, rm, stat, statfs } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describeBackups } from '../../features/backups/backups.ts';
import { keyType } from '../../features/keys/keys.ts';
import { describeUpdate } from '../../features/updates/updates.ts';
import { settings, type Config } from '../../app/config.ts';
import {
  openDatabase,
  type DatabaseConnection,
  type Db,
} from '../../platform/database/database.ts';
import { migrate, migrationStatus, type MigrationStatus } from '../../platform/database/migrate.ts';
import { checkOutsideServer } from '../../platform/database/outside-server.ts';
import { examineReplica } from '../../platform/database/read-replica.ts';
import { parseAllowList } from '../../platform/egress/allow-list.ts';
import { encryptionKeyProblem } from '../../platform/secrets/encryption-key.ts';
import { createLogger } from '../../platform/logging/logging.ts';
import { describeEmbeddedPostgres } from '../../platform/postgres/describe-embedded-postgres.ts';
import { unknownVariables } from '../../platform/settings/settings.ts';
import { listFailedJobs } from '../../platform/queue/queue-reports.ts';
import { formatStorageUrl } from '../../platform/storage/back-ends.ts';
import { openStorage } from '../../platform/storage/open-storage.ts';
import { tryStorage } from '../../platform/storage/try-storage.ts';
import { version } from '../../version.ts';
import { withConnection } from '../with-database.ts';
import { examineCertificate, examinePort, examinePublicUrl } from './addresses.ts';
import { examineDataDirectory, examineLeftovers } from './data-directory.ts';
import { problemOf, type Finding } from '../../platform/feature/finding.ts';

type Check = (config: Config, env: NodeJS.ProcessEnv) => Promise<Finding[]>;

export const checks: Record<string, Check> = {
  async Node() {
    const major = Number(process.versions.node.split('.')[0]);
    const detail = `${process.version}, Reelfeed ${version}`;
    const mend = 'Run npm ci, which installs Node 24 with the service.';
    return [
      major >= 24
        ? { subject: 'Node', state: 'ok', detail }
        : { subject: 'Node', state: 'problem', detail, mend },
    ];
  },

  async Settings(config, env) {
    parseAllowList(config.egressAllow);
    const unknown = unknownVariables(settings, env);
    const garbage = (['secret', 'publishable'] as const).filter((type) => {
      const key = config[`${type}Key`];
      return key !== null && keyType(key) !== type;
    });
    if (garbage.length > 0) {
      return garbage.map((type) => ({
        subject: 'Settings',
        state: 'problem',
        detail: `REELFEED_${type.toUpperCase()}_KEY is not a valid Reelfeed ${type} key`,
        mend: `Set it to the output of reelfeed keys generate --type ${type}.`,
      }));
    }
    if (unknown.length === 0)
      return [{ subject: 'Settings', state: 'ok', detail: 'all are known and valid' }];
    const mend = 'Compare the spelling with the table in the README.';
    return [{ subject: 'Settings', state: 'note', detail: `unknown: ${unknown.join(', ')}`, mend }];
  },

  'Data directory': examineDataDirectory,

  Leftovers: examineLeftovers,

  Port: examinePort,

  'Public URL': examinePublicUrl,

  Certificate: examineCertificate,

  async 'Disk space'(config) {
    const subject = 'Disk space';
    const folder = await nearestExisting(config.dataDir);
    const { bavail, bsize } = await statfs(folder);
    const freeBytes = bavail * bsize;
    const detail = `${Math.floor(freeBytes / 2 ** 20)} MB free`;
    const mend = 'Uploads are rejected below REELFEED_MIN_FREE_BYTES. Free some space.';
    return [
      freeBytes >= config.minFreeBytes
        ? { subject, state: 'ok', detail }
        : { subject, state: 'problem', detail, mend },
    ];
  },

  async 'Media storage'(config) {
    const subject = 'Media storage';
    const { mediaUrl } = config;
    if (mediaUrl === null) return [{ subject, state: 'ok', detail: 'in the data directory' }];
    const folder = await mkdtemp(path.join(os.tmpdir(), 'reelfeed-doctor-'));
    try {
      await tryStorage(await openStorage({ ...config, dataDir: folder }));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    const detail = `${formatStorageUrl(mediaUrl)}: write, read, list and delete work`;
    return [{ subject, state: 'ok', detail }];
  },

  async PostgreSQL(config) {
    if (config.databaseUrl !== null) return [];
    const { version: server, account, problems } = await describeEmbeddedPostgres();
    if (server !== undefined) {
      return [{ subject: 'PostgreSQL', state: 'ok', detail: `embedded ${server}, as ${account}` }];
    }
    return problems.map(({ problem, mend }) => ({
      subject: 'PostgreSQL',
      state: 'problem' as const,
      detail: problem,
      mend,
    }));
  },

  'Read replica': examineReadReplica,

  async Database(config) {
    const exists = await stat(path.join(config.dataDir, 'postgres')).then(
      () => true,
      () => false,
    );
    if (config.databaseUrl === null && !exists) {
      return [{ subject: 'Database', state: 'note', detail: 'will be created at the first start' }];
    }
    return withConnection(config, async (connection) => {
      const status = await migrationStatus(connection);
      const migrations = describeMigrations(status, config);
      if (migrations.state !== 'ok') return [migrations];
      await using database = openDatabase({ connection, poolSize: 2, log: createLogger('error') });
      const findings: Finding[] = [migrations, await describeKey(database.db, config)];
      if (config.databaseUrl !== null) findings.push(await describeDurability(config, connection));
      const failed = await listFailedJobs(database.db);
      if (failed.length > 0) {
        const [last] = failed;
        const detail = `${failed.length} failed permanently; most recent: ${last?.name ?? ''}: ${last?.lastError ?? ''}`;
        findings.push({ subject: 'Background jobs', state: 'note', detail });
      } else {
        findings.push({
          subject: 'Background jobs',
          state: 'ok',
          detail: 'none has failed permanently',
        });
      }
      findings.push(...(await describeBackups(database.db, config)));
      findings.push(...(await describeUpdate(database.db, config.updateUrl)));
      return findings;
    });
  },
};

async function examineReadReplica({ databaseReadUrl: url }: Config): Promise<Finding[]> {
  if (url === null) return [];
  const subject = 'Read replica';
  const { problem } = await examineReplica(url);
  if (problem === null)
    return [{ subject, state: 'ok', detail: 'reachable and replicating from the primary' }];
  const mend =
    'Check REELFEED_DATABASE_READ_URL. Until it works, reports are read from the primary.';
  return [{ subject, state: 'problem', detail: problem, mend }];
}

/** Decrypts a secret from the database, as signing a webhook does. */
async function describeKey(db: Db, config: Config): Promise<Finding> {
  const subject = 'Encryption key';
  try {
    const problem = await encryptionKeyProblem(db, config);
    if (problem !== null) return { subject, state: 'problem', detail: problem };
  } catch (error) {
    return problemOf(subject, error);
  }
  const isFile = config.encryptionKey === null;
  const detail = `decrypts the stored secrets; source: ${isFile ? 'the data directory' : 'REELFEED_ENCRYPTION_KEY'}`;
  if (!isFile || config.databaseUrl === null) return { subject, state: 'ok', detail };
  const mend = 'Set REELFEED_ENCRYPTION_KEY to its content on every process of the cluster.';
  return { subject, state: 'note', detail, mend };
}

async function describeDurability(
  config: Config,
  connection: DatabaseConnection,
): Promise<Finding> {
  const subject = 'Durability';
  try {
    await checkOutsideServer(connection, config.acceptUnsafeDatabase);
  } catch (error) {
    return problemOf(subject, error);
  }
  const accepted = config.acceptUnsafeDatabase;
  return accepted.length === 0
    ? { subject, state: 'ok', detail: 'commits are durable' }
    : { subject, state: 'note', detail: `not durable, but accepted: ${accepted.join(', ')}` };
}

function describeMigrations(
  { applied, pending, unknown, changed }: MigrationStatus,
  config: Config,
): Finding {
  const subject = 'Database';
  if (changed.length > 0) {
    const mend =
      'Restore the files in server/migrations. Migrations are never edited after a release.';
    return { subject, state: 'problem', detail: `migrations differ: ${changed.join(', ')}`, mend };
  }
  if (unknown.length > 0) {
    const mend = 'Start the newer version, or restore a backup made before the upgrade.';
    return {
      subject,
      state: 'problem',
      detail: `applied by a newer version: ${unknown.join(', ')}`,
      mend,
    };
  }
  if (pending.length > 0) {
    const mend = 'They are applied at the next start, or run reelfeed migrate.';
    const fix = {
      action: `apply ${pending.length} migrations; the previous version keeps working`,
      apply: () =>
        withConnection(config, (connection) => migrate(connection, createLogger('error'))),
    };
    const detail = `migrations pending: ${pending.join(', ')}`;
    return { subject, state: 'note', detail, mend, fix };
  }
  return { subject, state: 'ok', detail: `reachable, ${applied.length} migrations applied` };
}

async function nearestExisting(folder: string): Promise<string> {
  const exists = await stat(folder).then(
    () => true,
    () => false,
  );
  const parent = path.dirname(folder);
  return exists || parent === folder ? folder : nearestExisting(parent);
}
