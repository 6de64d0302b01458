/** The files of exports. Only this file accesses the storage. */
import type { SignedUrlOptions, Storage, StoredRead } from '../../platform/storage/storage.ts';
import type { ExportKey } from './queries.ts';

/** Free space that exports leave to the database. */
const minFreeBytes = 512 * 2 ** 20;
const maxFileBytes = 50 * 2 ** 30;
/** A client follows the redirect at once; a download that has begun goes on after this. */
const signedForMs = 5 * 60_000;

function folderOf({ organizationId, exportId }: ExportKey): string {
  return `exports/${organizationId}/${exportId}`;
}

function keyOf(key: ExportKey): string {
  return `${folderOf(key)}/data`;
}

/** Stores a file, whole and durable when it resolves. @returns its size in bytes */
export async function storeExportFile(
  storage: Storage,
  key: ExportKey,
  bytes: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<number> {
  const options = { maxBytes: maxFileBytes, minFreeBytes };
  await using file = await storage.scratch.receive(bytes, options, signal);
  await storage.put(keyOf(key), file, signal);
  return file.sizeBytes;
}

/** A signed URL of the storage for a file, or null where the service sends it itself. */
export function exportFileUrl(
  storage: Storage,
  key: ExportKey,
  headers: Pick<SignedUrlOptions, 'contentType' | 'contentDisposition'>,
): Promise<string | null> {
  return storage.signedUrl(keyOf(key), { ...headers, expiresInMs: signedForMs });
}

export function readExportFile(storage: Storage, key: ExportKey): Promise<StoredRead | null> {
  return storage.read(keyOf(key));
}

export async function removeExportFiles(
  storage: Storage,
  keys: readonly ExportKey[],
): Promise<void> {
  for (const key of keys) await storage.removePrefix(folderOf(key));
}
