/**
 * What a backup holds: a folder with `manifest.json`, the rows of each table under `database/`, the
 * media under `media/`, and the encryption key where that was asked for. The manifest is written
 * last, so a folder without one is not a backup.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, rename, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ConfigurationError } from '../../platform/settings.ts';
import { sync } from '../../platform/storage/durable.ts';
import type { PositionEntry } from './transaction-ids.ts';

export type FileEntry = {
  /** Relative to the backup, with `/`. */
  path: string;
  sizeBytes: number;
  sha256: string;
};

export type TableEntry = FileEntry & { table: string; columns: string[]; rows: number };

export type Manifest = {
  format: 1;
  version: string;
  createdAt: string;
  postgres: string;
  migrations: { name: string; checksum: string }[];
  /** A restored database must be past this transaction id; see `transaction-ids.ts`. */
  nextTransactionId: string;
  partitions: { parent: string; name: string; bound: string }[];
  /** How far each projection has read the event log. */
  positions: PositionEntry[];
  sequences: { name: string; lastValue: string; isCalled: boolean }[];
  tables: TableEntry[];
  media: (FileEntry & { key: string })[];
  /** Null when the key is not in the backup. */
  encryptionKey: FileEntry | null;
};

const manifestFile = 'manifest.json';

/** Writes the manifest durably, which completes the backup. */
export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  const text = JSON.stringify({ sha256: digest(manifest), manifest }, null, 1);
  const draft = path.join(folder, `${manifestFile}.part`);
  await writeFile(draft, `${text}\n`, { mode: 0o600 });
  await sync(draft);
  await rename(draft, path.join(folder, manifestFile));
  await sync(folder);
}

/** @throws ConfigurationError when the folder is not a backup, or its manifest is damaged */
export async function readManifest(folder: string): Promise<Manifest> {
  let text: string;
  try {
    text = await readFile(path.join(folder, manifestFile), 'utf8');
  } catch (error) {
    const message = `${folder} is not a complete backup: it has no ${manifestFile}.`;
    throw new ConfigurationError(message, { cause: error });
  }
  const damaged = new ConfigurationError(`The manifest of the backup ${folder} is damaged.`);
  let read: { sha256: string; manifest: Manifest };
  try {
    read = JSON.parse(text) as typeof read;
    if (read.sha256 !== digest(read.manifest)) throw damaged;
  } catch {
    throw damaged;
  }
  if (read.manifest.format !== 1) {
    throw new ConfigurationError(`The backup ${folder} was made by a newer version of Reelfeed.`);
  }
  return read.manifest;
}

function digest(manifest: Manifest): string {
  return createHash('sha256').update(JSON.stringify(manifest)).digest('hex');
}

/** Every file that the manifest names. */
export function filesOf({ tables, media, encryptionKey }: Manifest): FileEntry[] {
  return [...tables, ...media, ...(encryptionKey === null ? [] : [encryptionKey])];
}

/** Checks one file of a backup. Returns the problem, or null. */
export async function fileProblem(folder: string, entry: FileEntry): Promise<string | null> {
  const file = path.join(folder, entry.path);
  try {
    const { size } = await stat(file);
    if (size !== entry.sizeBytes) return `has ${size} bytes instead of ${entry.sizeBytes}`;
    const isSame = (await hashFile(file)) === entry.sha256;
    return isSame ? null : 'has other content than it was written with';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
      ? 'is missing'
      : `can't be read: ${(error as Error).message}`;
  }
}

/** The SHA-256 of a file in hexadecimal. */
export async function hashFile(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
