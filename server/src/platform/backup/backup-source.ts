/**
 * A backup to verify or restore, from a repository or from a folder written by an earlier version.
 */
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { createHash } from 'node:crypto';
import { createZstdDecompress } from 'node:zlib';
import { ConfigurationError } from '../settings/settings.ts';
import type { RowSource } from './database-load.ts';
import { openPlace } from './place.ts';
import { isStorageUrl } from '../storage/back-ends.ts';
import type { StorageConfig } from '../storage/open-storage.ts';
import {
  checkedManifest,
  listBackups,
  readBackupManifest,
  type Manifest,
  type MediaEntry,
} from './manifest.ts';
import { readLines } from './media-index.ts';
import { openRepository, type FileEntry, type Repository } from './repository.ts';

export type BackupSource = RowSource & {
  /** Its name in messages. */
  readonly name: string;
  readonly manifest: Manifest;
  readonly media: () => AsyncIterable<MediaEntry>;
  /** Returns null if the file is missing. */
  readonly read: (file: Pick<FileEntry, 'path'>) => Promise<Readable | null>;
};

export type SourceOptions = {
  place: string;
  passphrase: string | null;
  /** The id of a backup, or null for the newest. */
  id: string | null;
};

/** @throws ConfigurationError if there is no such backup */
export async function openBackupSource(
  { place, passphrase, id }: SourceOptions,
  config: StorageConfig,
): Promise<BackupSource> {
  if (!isStorageUrl(place)) {
    const folder = path.resolve(place);
    if (await isThere(path.join(folder, 'manifest.json'))) return openFolder(folder);
    if (!(await isThere(path.join(folder, 'objects', 'repository.json')))) {
      throw new ConfigurationError(`${folder} is not a complete backup and contains no backups.`);
    }
  }
  const storage = await openPlace(place, config);
  const repository = await openRepository(storage, { place, passphrase, create: false });
  const last = id ?? (await listBackups(repository)).at(-1);
  if (last === undefined) throw new ConfigurationError(`${place} contains no complete backup.`);
  return sourceIn(repository, last);
}

export async function sourceIn(repository: Repository, id: string): Promise<BackupSource> {
  const manifest = await readBackupManifest(repository, id);
  const { media } = manifest;
  if (Array.isArray(media)) throw new ConfigurationError(`The manifest of ${id} is damaged.`);
  return {
    name: id,
    manifest,
    media: () => readLines<MediaEntry>(repository, media.path),
    read: ({ path: key }) => repository.read(key),
    readRows: ({ path: key }) => repository.read(key, { compressed: true }),
  };
}

async function openFolder(folder: string): Promise<BackupSource> {
  const damaged = `The manifest of the backup ${folder} is damaged.`;
  const text = await readFile(path.join(folder, 'manifest.json'), 'utf8');
  let written: { sha256: string; manifest: Manifest };
  try {
    written = JSON.parse(text) as typeof written;
  } catch (error) {
    throw new ConfigurationError(damaged, { cause: error });
  }
  const manifest = checkedManifest(written, damaged);
  const { media } = manifest;
  const read = async ({ path: relative }: Pick<FileEntry, 'path'>) => {
    const file = path.join(folder, relative);
    return (await isThere(file)) ? createReadStream(file) : null;
  };
  return {
    name: folder,
    manifest,
    async *media() {
      if (Array.isArray(media)) yield* media;
    },
    read,
    readRows: async (entry) => (await read(entry))?.pipe(createZstdDecompress()) ?? null,
  };
}

/**
 * Checks the size and checksum of one file.
 *
 * @returns the problem, or null
 */
export async function fileProblem(
  file: FileEntry,
  open: (file: FileEntry) => Promise<Readable | null>,
): Promise<string | null> {
  try {
    const stream = await open(file);
    if (stream === null) return 'is missing';
    const hash = createHash('sha256');
    let sizeBytes = 0;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      hash.update(chunk);
      sizeBytes += chunk.length;
    }
    if (sizeBytes !== file.sizeBytes) return `has ${sizeBytes} bytes instead of ${file.sizeBytes}`;
    return hash.digest('hex') === file.sha256 ? null : 'has a wrong checksum';
  } catch (error) {
    return `cannot be read: ${(error as Error).message}`;
  }
}

/**
 * Checks either all files of a backup, or all tables and a sample of the media.
 *
 * @returns the number of files checked, and one line per problem
 */
export async function examineBackup(
  source: BackupSource,
  isChosen: (media: MediaEntry) => boolean = () => true,
): Promise<{ files: number; problems: string[] }> {
  const { manifest } = source;
  const isOld = manifest.format === 1;
  const problems: string[] = [];
  let files = 0;
  const look = async (file: FileEntry, open: BackupSource['read']) => {
    files += 1;
    const problem = await fileProblem(file, open);
    if (problem !== null) problems.push(`${file.path} ${problem}`);
  };
  const { tables, eventBytes, encryptionKey, media } = manifest;
  // In format 1 the checksums are those of the compressed files.
  const readTable = isOld ? source.read : source.readRows;
  for (const table of tables) await look(table, readTable);
  if (eventBytes !== undefined) await look(eventBytes, readTable);
  if (encryptionKey !== null) await look(encryptionKey, source.read);
  if (!Array.isArray(media)) await look(media, source.readRows);
  // Without the media index, the media cannot be checked.
  if (problems.some((problem) => !Array.isArray(media) && problem.startsWith(media.path))) {
    return { files, problems };
  }
  for await (const entry of source.media()) {
    if (isChosen(entry)) await look(entry, source.read);
  }
  return { files, problems };
}

async function isThere(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  );
}
