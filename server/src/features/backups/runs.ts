/** The three kinds of runs and their records: backups, WAL archiving, and drills. */
import path from 'node:path';
import type { Logger } from 'pino';
import type { DatabaseConnection, Db } from '../../platform/database/database.ts';
import { withSession } from '../../platform/database/session.ts';
import { runDrill } from '../../platform/backup/drill.ts';
import { openPlace } from '../../platform/backup/place.ts';
import { openRepository, type Repository } from '../../platform/backup/repository.ts';
import { pruneRepository } from '../../platform/backup/retention.ts';
import { takeBackup, tryRepositoryLock } from '../../platform/backup/take-backup.ts';
import type { BlockStream } from '../../platform/event-log/block-stream.ts';
import type { StorageConfig } from '../../platform/storage/open-storage.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import type { SettingValues } from '../../platform/settings/settings.ts';
import { version } from '../../version.ts';
import type { EmbeddedServer, LogArchive } from './log-archive.ts';
import {
  listBackupRuns,
  recordBegin,
  recordFailure,
  recordSuccess,
  type RunKind,
  type RunStatus,
} from './queries.ts';
import type { backupSettings } from './settings.ts';

export type BackupParts = {
  db: Db;
  log: Logger;
  connection: DatabaseConnection;
  storage: Storage;
  eventStream: BlockStream | null;
  installation: {
    readonly dataDir: string;
    readonly keyFile: string | null;
    readonly embedded: EmbeddedServer | null;
    readonly storageConfig: StorageConfig;
  };
};

export type BackupConfig = SettingValues<typeof backupSettings>;

/** Minimum delay after a failure. */
const retryMs = 10 * 60_000;

export class BackupRuns {
  readonly #parts: BackupParts;
  readonly #config: BackupConfig;
  readonly #archive: LogArchive | null;
  #repository: Promise<Repository> | null = null;

  constructor(parts: BackupParts, config: BackupConfig, archive: LogArchive | null) {
    this.#parts = parts;
    this.#config = config;
    this.#archive = archive;
  }

  /** Takes a backup if one is due, and removes expired ones. */
  async backUp(signal: AbortSignal): Promise<void> {
    const { backupEveryMs, backupKeepMs, recoveryWindowMs } = this.#config;
    await this.#runWhenDue('backup', backupEveryMs, signal, async (repository) => {
      const { installation, connection, storage, eventStream } = this.#parts;
      const keyFile = repository.isEncrypted ? installation.keyFile : null;
      const taken = await takeBackup(
        { connection, storage, stream: eventStream, version },
        repository,
        keyFile,
        signal,
      );
      await this.#archive?.keepBase(repository, backupEveryMs / 2, signal);
      const removed = await this.#prune(repository, {
        backupsMs: backupKeepMs,
        recoveryMs: this.#archive === null ? 0 : recoveryWindowMs,
      });
      const { files, bytes } = taken.added;
      return { id: taken.id, newMediaFiles: files, newMediaBytes: bytes, removed };
    });
  }

  /** Archives the WAL of the embedded database. */
  async archiveLog(signal: AbortSignal): Promise<void> {
    const archive = this.#archive;
    if (archive === null) return;
    await this.#recorded('archive', signal, async (repository) => {
      await archive.pass(repository);
      await archive.keepBase(repository, this.#config.backupEveryMs * 2, signal);
      await archive.keepMedia(repository, signal);
      return null;
    });
  }

  /** Restores the newest backup into a temporary database if a drill is due. */
  async drill(signal: AbortSignal): Promise<void> {
    const { drillEveryMs } = this.#config;
    const { db, installation, log } = this.#parts;
    const runs = await listBackupRuns(db);
    const hasBackup = runs.some(
      ({ kind, succeededAt }) => kind === 'backup' && succeededAt !== null,
    );
    if (drillEveryMs === 0 || !hasBackup) return;
    await this.#runWhenDue('drill', drillEveryMs, signal, async (repository) => {
      const folder = path.join(installation.dataDir, 'drill');
      return runDrill(repository, { folder, log: log.child({ component: 'drill' }), signal });
    });
  }

  async #prune(
    repository: Repository,
    retention: Parameters<typeof pruneRepository>[1],
  ): Promise<number> {
    const session = { applicationName: 'reelfeed-backup', unlimited: ['statement_timeout'] };
    return withSession(this.#parts.connection, session, async (client) => {
      const { rows } = await client.query<{ isOurs: boolean }>(tryRepositoryLock);
      return rows[0]?.isOurs === true ? pruneRepository(repository, retention) : 0;
    });
  }

  async #runWhenDue(
    kind: RunKind,
    everyMs: number,
    signal: AbortSignal,
    work: (repository: Repository) => Promise<Readonly<Record<string, unknown>>>,
  ): Promise<void> {
    const run = (await listBackupRuns(this.#parts.db)).find((one) => one.kind === kind);
    if (!isDue(run, everyMs)) return;
    await recordBegin(this.#parts.db, kind);
    await this.#recorded(kind, signal, work);
  }

  async #recorded(
    kind: RunKind,
    signal: AbortSignal,
    work: (repository: Repository) => Promise<Readonly<Record<string, unknown>> | null>,
  ): Promise<void> {
    const { db, log } = this.#parts;
    const startedAt = performance.now();
    try {
      const facts = await work(await this.#open());
      if (facts === null) return;
      const durationMs = Math.round(performance.now() - startedAt);
      await recordSuccess(db, kind, { ...facts, durationMs });
      log.info({ ...facts, kind, durationMs }, 'backup run succeeded');
    } catch (error) {
      if (signal.aborted) return;
      this.#repository = null;
      log.error({ err: error, kind }, 'backup run failed');
      await recordFailure(db, kind, (error as Error).message.slice(0, 500));
    }
  }

  async #open(): Promise<Repository> {
    const { backupTo: place, backupPassphrase: passphrase } = this.#config;
    if (place === null) throw new Error('No backup location is configured.');
    this.#repository ??= openPlace(place, this.#parts.installation.storageConfig).then((storage) =>
      openRepository(storage, { place, passphrase, create: true }),
    );
    return this.#repository;
  }
}

/** Whether a run is due: an interval after the last success, or a delay after a failure. */
function isDue(run: RunStatus | undefined, everyMs: number, now = Date.now()): boolean {
  const succeededAt = run?.succeededAt?.getTime() ?? 0;
  const failedAt = run?.failedAt?.getTime() ?? 0;
  const waitMs = failedAt > succeededAt ? Math.min(retryMs, everyMs) : 0;
  return now >= succeededAt + everyMs && now >= failedAt + waitMs;
}
