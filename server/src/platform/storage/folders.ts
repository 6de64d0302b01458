/**
 * Publishes a local folder, such as the segments and playlists of a video, as objects below a
 * prefix.
 *
 *   (nothing) → files without a manifest → published → (removed)
 *
 * 1. `manifest.json` below the prefix is written last and names every file, so a prefix with a
 *    manifest is complete until its removal begins. A prefix without one was left by a killed
 *    writer; publishing again completes it.
 * 2. A prefix has one writer at a time: callers publish under a unique name.
 * 3. Files added to a published prefix are durable before the files that refer to them change.
 */
import path from 'node:path';
import { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { listTree } from './durable.ts';
import { KeyTakenError, PrefixMissingError, UnsafeSourceError } from './storage-errors.ts';
import type { Storage } from './storage.ts';

export type FolderManifest = {
  /** Paths relative to the prefix, with `/`. */
  readonly files: readonly string[];
};

const manifestName = 'manifest.json';

/** Reads the manifest of a prefix. Null if nothing is published there. */
export async function readManifest(
  storage: Storage,
  prefix: string,
  signal?: AbortSignal,
): Promise<FolderManifest | null> {
  const read = await storage.read(`${prefix}/${manifestName}`, undefined, signal);
  return read === null ? null : ((await json(read.stream)) as FolderManifest);
}

export type PublishOptions = {
  /** Files that already exist under the prefix. */
  readonly stored?: ReadonlySet<string>;
  /** Files that refer to others; they are replaced in this order once all others are durable. */
  readonly last?: readonly string[];
};

/**
 * Publishes a local folder, whose files may be gone afterwards. The folder is checked for links,
 * because FFmpeg's output is not trusted.
 *
 * @throws KeyTakenError if something is already published there
 * @throws UnsafeSourceError for a folder that is empty or contains anything but plain files and
 * folders with valid names; nothing is stored then
 */
export async function publishFolder(
  storage: Storage,
  localFolder: string,
  prefix: string,
  signal?: AbortSignal,
  { last = [], stored = new Set() }: PublishOptions = {},
): Promise<void> {
  if ((await storage.head(`${prefix}/${manifestName}`, signal)) !== null) {
    throw new KeyTakenError(prefix);
  }
  const files = await listFiles(localFolder, signal);
  const missing = files.filter((name) => !stored.has(name));
  const first = missing.filter((name) => !last.includes(name));
  await putFiles(storage, { localFolder, prefix, files: first }, signal);
  for (const name of last) {
    await storage.put(`${prefix}/${name}`, { path: path.join(localFolder, name) }, signal);
  }
  await writeManifest(storage, prefix, files, signal);
}

/**
 * Adds the files of a local folder, such as further renditions, to a published prefix. Existing
 * files are replaced. Files named in `last` (such as `master.m3u8`) are replaced in that order once
 * all others are durable, so that no reader follows a dangling reference. Running it again after a
 * crash completes it.
 *
 * @throws PrefixMissingError if nothing is published there, or if it is removed in the meantime
 * @throws UnsafeSourceError like `publishFolder`, and if a file of `last` is missing
 */
export async function addToFolder(
  storage: Storage,
  localFolder: string,
  prefix: string,
  { last }: { readonly last: readonly string[] },
  signal?: AbortSignal,
): Promise<void> {
  const published =
    (await readManifest(storage, prefix, signal)) ?? (await adoptFolder(storage, prefix, signal));
  const files = await listFiles(localFolder, signal);
  const missing = last.find((name) => !files.includes(name));
  if (missing !== undefined) throw new UnsafeSourceError(`it lacks ${missing}`);
  const first = files.filter((name) => !last.includes(name));
  await putFiles(storage, { localFolder, prefix, files: first }, signal);
  if ((await readManifest(storage, prefix, signal)) === null) {
    await storage.removePrefix(prefix, signal);
    throw new PrefixMissingError(prefix);
  }
  for (const name of last) {
    await storage.put(`${prefix}/${name}`, { path: path.join(localFolder, name) }, signal);
  }
  const all = new Set([...published.files, ...files]);
  await writeManifest(storage, prefix, [...all], signal);
}

async function listFiles(localFolder: string, signal?: AbortSignal): Promise<readonly string[]> {
  const files = await listTree(localFolder, signal);
  if (files.includes(manifestName)) throw new UnsafeSourceError(`it contains a ${manifestName}`);
  return files;
}

async function putFiles(
  storage: Storage,
  { localFolder, prefix, files }: { localFolder: string; prefix: string; files: readonly string[] },
  signal?: AbortSignal,
): Promise<void> {
  const named = files.map((name) => ({
    key: `${prefix}/${name}`,
    path: path.join(localFolder, name),
  }));
  await storage.putMany(named, signal);
}

async function writeManifest(
  storage: Storage,
  prefix: string,
  files: readonly string[],
  signal?: AbortSignal,
): Promise<FolderManifest> {
  const manifest: FolderManifest = { files: files.toSorted() };
  const bytes = Buffer.from(JSON.stringify(manifest));
  await storage.put(`${prefix}/${manifestName}`, Readable.from([bytes]), signal);
  return manifest;
}

/** Creates a manifest for a folder that was published before manifests existed. */
async function adoptFolder(
  storage: Storage,
  prefix: string,
  signal?: AbortSignal,
): Promise<FolderManifest> {
  const files: string[] = [];
  for await (const { key } of storage.list(prefix, signal))
    files.push(key.slice(prefix.length + 1));
  if (files.length === 0) throw new PrefixMissingError(prefix);
  return writeManifest(storage, prefix, files, signal);
}
