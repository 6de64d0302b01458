/** Archives the WAL of the embedded database and takes the base backups for restores. */
import type { DatabaseConnection, Db } from '../../platform/database/database.ts';
import { withSession } from '../../platform/database/session.ts';
import { MediaIndex } from '../../platform/backup/media-index.ts';
import {
  archivePass,
  dropSlot,
  type ArchivePass,
} from '../../platform/backup/recovery/archiver.ts';
import { takeBase } from '../../platform/backup/recovery/base.ts';
import { listBases } from '../../platform/backup/recovery/chain.ts';
import type { Repository } from '../../platform/backup/repository.ts';
import { tryRepositoryLock } from '../../platform/backup/take-backup.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { version } from '../../version.ts';
import { recordBegin, recordSuccess } from './queries.ts';

export type EmbeddedServer = { readonly superuser: DatabaseConnection; readonly folder: string };

type Parts = { db: Db; storage: Storage; server: EmbeddedServer };

const session = {
  applicationName: 'reelfeed-archive',
  unlimited: ['statement_timeout', 'idle_in_transaction_session_timeout'],
};
/** Interval for copying new media along with the WAL, so that a restored item has its files. */
const mediaEveryMs = 10 * 60_000;

export class LogArchive {
  readonly #parts: Parts;
  /** Passes run one after another, because two would advance the same slot. */
  #turn: Promise<unknown> = Promise.resolve();
  #mediaAt = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Archives what was written since the last pass, and updates the status. */
  async pass(repository: Repository): Promise<ArchivePass> {
    const turn = this.#turn.then(() => this.#pass(repository));
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #pass(repository: Repository): Promise<ArchivePass> {
    const { db, server } = this.#parts;
    const done = await withSession(server.superuser, session, (client) =>
      archivePass(client, server.folder, repository, () => recordBegin(db, 'archive')),
    );
    const bases = await listBases(repository);
    const usable = bases.filter(
      ({ system, timeline, startedAt }) =>
        system === done.system && timeline === done.timeline && startedAt >= done.since,
    );
    const reachesFrom = usable[0]?.completedAt ?? null;
    await recordSuccess(db, 'archive', { reachesFrom, reachesTo: done.coveredUntil });
    return done;
  }

  /** Takes a base backup unless one of this WAL is younger than `maxAgeMs`. */
  async keepBase(repository: Repository, maxAgeMs: number, signal: AbortSignal): Promise<void> {
    const { since, system, timeline } = await this.pass(repository);
    const bases = await listBases(repository);
    const last = bases.findLast(
      (base) => base.system === system && base.timeline === timeline && base.startedAt >= since,
    );
    if (last !== undefined && Date.parse(last.startedAt) > Date.now() - maxAgeMs) return;
    const { server } = this.#parts;
    await withSession(server.superuser, session, (client) =>
      takeBase(client, server.folder, repository, {
        version,
        signal,
        archive: () => this.pass(repository),
      }),
    );
    await this.pass(repository);
  }

  /** Copies new media unless a backup is doing so right now. */
  async keepMedia(repository: Repository, signal: AbortSignal): Promise<void> {
    if (Date.now() - this.#mediaAt < mediaEveryMs) return;
    const { storage, server } = this.#parts;
    await withSession(server.superuser, session, async (client) => {
      const { rows } = await client.query<{ isOurs: boolean }>(tryRepositoryLock);
      if (rows[0]?.isOurs !== true) return;
      const index = await MediaIndex.open(repository);
      await index.pass(storage, signal);
      await index.save();
    });
    this.#mediaAt = Date.now();
  }

  /** When archiving ends, the server must not keep its WAL for it. */
  async end(): Promise<void> {
    await withSession(this.#parts.server.superuser, session, dropSlot);
  }
}
