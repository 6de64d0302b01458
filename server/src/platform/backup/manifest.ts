/**
 * The contents of one backup. The manifest is written last, so a backup without one is incomplete.
 *
 * Repositories use format 2. Format 1, used by earlier versions, is a separate folder with
 * `manifest.json`, the rows of each table under `database/` and the media under `media/`; it can
 * still be verified and restored.
 */
import { createHash, randomBytes } from 'node:crypto';
import { ConfigurationError } from '../settings/settings.ts';
import type { FileEntry, Repository } from './repository.ts';
import type { PositionEntry } from './transaction-ids.ts';

export type TableShape = { table: string; columns: string[] };
export type TableEntry = FileEntry & TableShape & { rows: number };
export type MediaEntry = FileEntry & { key: string };

/** The state of the database and its files when the backup was taken. */
export type DatabasePart = {
  postgres: string;
  migrations: { name: string; checksum: string }[];
  /** A restored database must be past this transaction id; see `transaction-ids.ts`. */
  nextTransactionId: string;
  partitions: { parent: string; name: string; bound: string }[];
  /** The position of each projection in the event log. */
  positions: PositionEntry[];
  sequences: { name: string; lastValue: string; isCalled: boolean }[];
  tables: TableEntry[];
  /** The bytes of events that were in a stream; absent if the tables hold all bytes. */
  eventBytes?: FileEntry;
};

export type Manifest = DatabasePart & {
  format: 1 | 2;
  version: string;
  createdAt: string;
  /** Format 1: the list of all media. Format 2: the file that contains the list. */
  media: MediaEntry[] | (FileEntry & { files: number });
  /** Null if the backup does not include the encryption key. */
  encryptionKey: FileEntry | null;
};

/** Begins with the time, so ids sort in the order in which the backups were taken. */
export function newBackupId(now = new Date()): string {
  const moment = now.toISOString().replaceAll(/[-:]|\.\d+/g, '');
  return `${moment}-${randomBytes(2).toString('hex')}`;
}

/** When the backup with this id began, in milliseconds since the Unix epoch. */
export function beginningOf(id: string): number {
  const [, date, time] = /^(\d{8})T(\d{6})Z-/.exec(id) ?? [];
  if (date === undefined || time === undefined) return Number.NaN;
  const [day, clock] = [date.replace(/(..)(..)$/, '-$1-$2'), time.replace(/(..)(..)$/, ':$1:$2')];
  return Date.parse(`${day}T${clock}Z`);
}

const manifestName = 'manifest.json';

/** Writes the manifest, which completes the backup. */
export async function writeManifest(
  repository: Repository,
  id: string,
  manifest: Manifest,
): Promise<void> {
  const written = { sha256: digest(manifest), manifest };
  await repository.putJson(`backups/${id}/${manifestName}`, written);
}

/** The ids of the complete backups, oldest first. */
export async function listBackups(repository: Repository): Promise<string[]> {
  const ids: string[] = [];
  for await (const { key } of repository.storage.list('backups')) {
    const [, id] = /^backups\/([^/]+)\/manifest\.json$/.exec(key) ?? [];
    if (id !== undefined) ids.push(id);
  }
  return ids.toSorted();
}

/** @throws ConfigurationError if there is no such backup, or its manifest is damaged */
export async function readBackupManifest(repository: Repository, id: string): Promise<Manifest> {
  const key = `backups/${id}/${manifestName}`;
  const damaged = `The manifest of the backup ${id} is damaged.`;
  const written = await repository
    .readJson<{ sha256: string; manifest: Manifest }>(key)
    .catch((error: unknown) => {
      throw new ConfigurationError(damaged, { cause: error });
    });
  if (written === null) throw new ConfigurationError(`The backup ${id} does not exist.`);
  return checkedManifest(written, damaged);
}

/** @throws ConfigurationError with the message `damaged` */
export function checkedManifest(
  written: { sha256: string; manifest: Manifest },
  damaged: string,
): Manifest {
  if (written?.manifest === undefined || written.sha256 !== digest(written.manifest)) {
    throw new ConfigurationError(damaged);
  }
  if (written.manifest.format !== 1 && written.manifest.format !== 2) {
    throw new ConfigurationError('The backup was made by a newer version of Reelfeed.');
  }
  return written.manifest;
}

function digest(manifest: Manifest): string {
  return createHash('sha256').update(JSON.stringify(manifest)).digest('hex');
}
