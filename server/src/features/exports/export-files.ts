/** The files of exports. Only this file accesses the storage. */
import type { SignedUrlOptions, Storage, StoredRead } from '../../platform/storage/storage.ts';
import { randomName } from '../../platform/ids.ts';
import type { ExportFile, ExportKey } from './queries.ts';

/** Free space that exports leave to the database. */
const minFreeBytes = 512 * 2 ** 20;
const maxFileBytes = 50 * 2 ** 30;
/** A client follows the redirect at once; a download that has begun goes on after this. */
const signedForMs = 5 * 60_000;

function folderOf({ organizationId, exportId }: ExportKey): string {
  return `exports/${organizationId}/${exportId}`;
}

function keyOf(file: ExportFile): string {
  return `${folderOf(file)}/${file.fileName ?? 'data'}`;
}

/** A file that no other attempt of the export writes or removes. */
export function newExportFile(key: ExportKey): ExportFile {
  return { ...key, fileName: randomName(9) };
}

/** The files that earlier attempts of an export have left. */
export async function listExportFiles(storage: Storage, key: ExportKey): Promise<ExportFile[]> {
  const files: ExportFile[] = [];
  for await (const { key: name } of storage.list(folderOf(key))) {
    files.push({ ...key, fileName: name.slice(folderOf(key).length + 1) });
  }
  return files;
}

export async function removeExportFile(storage: Storage, file: ExportFile): Promise<void> {
  await storage.remove(keyOf(file));
}

/** Stores a file, whole and durable when it resolves. @returns its size in bytes */
export async function storeExportFile(
  storage: Storage,
  target: ExportFile,
  bytes: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<number> {
  const options = { maxBytes: maxFileBytes, minFreeBytes };
  await using file = await storage.scratch.receive(bytes, options, signal);
  await storage.put(keyOf(target), file, signal);
  return file.sizeBytes;
}

/** A signed URL of the storage for a file, or null where the service sends it itself. */
export function exportFileUrl(
  storage: Storage,
  file: ExportFile,
  headers: Pick<SignedUrlOptions, 'contentType' | 'contentDisposition'>,
): Promise<string | null> {
  return storage.signedUrl(keyOf(file), { ...headers, expiresInMs: signedForMs });
}

export function readExportFile(storage: Storage, file: ExportFile): Promise<StoredRead | null> {
  return storage.read(keyOf(file));
}

export async function removeExportFiles(
  storage: Storage,
  keys: readonly ExportKey[],
): Promise<void> {
  for (const key of keys) await storage.removePrefix(folderOf(key));
}
