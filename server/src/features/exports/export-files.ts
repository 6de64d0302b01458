/** The files of exports. Only this file accesses the storage. */
import type { FastifyReply } from 'fastify';
import { readRange } from '../../platform/http/byte-range.ts';
import { StorageFullError } from '../../platform/storage/storage-errors.ts';
import type {
  Piece,
  PieceWriter,
  SignedUrlOptions,
  Storage,
  StoredFile,
  StoredRead,
} from '../../platform/storage/storage.ts';
import { randomName } from '../../platform/values/ids.ts';
import type { ExportFile, ExportKey } from './queries.ts';

/** Free disk space that exports leave to the database. */
const minFreeBytes = 512 * 2 ** 20;
const maxFileBytes = 50 * 2 ** 30;
/** Clients follow the redirect immediately, and a running download continues after this. */
const signedForMs = 5 * 60_000;

function folderOf({ organizationId, exportId }: ExportKey): string {
  return `exports/${organizationId}/${exportId}`;
}

export function exportFileKey(file: ExportFile): string {
  return `${folderOf(file)}/${file.fileName ?? 'data'}`;
}

/** A file that no other attempt of the export writes or removes. */
export function newExportFile(key: ExportKey): ExportFile {
  return { ...key, fileName: randomName(9) };
}

export async function listStored(storage: Storage, key: ExportKey): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key: name } of storage.list(folderOf(key))) keys.push(name);
  return keys;
}

export async function removeExportFile(storage: Storage, file: ExportFile): Promise<void> {
  await storage.remove(exportFileKey(file));
}

/** Opens a writer that continues a file. Its objects are stored in the export's folder. */
export function openExportPieces(
  storage: Storage,
  key: ExportKey,
  held: readonly Piece[],
): PieceWriter {
  return storage.openPieces(folderOf(key), held);
}

/** @throws StorageFullError also for a file that is too large */
export async function requireRoom(storage: Storage, sizeBytes: number): Promise<void> {
  if (sizeBytes > maxFileBytes) throw new StorageFullError();
  await storage.scratch.requireFree(minFreeBytes);
}

/** Assembles the file of an export. It is durable when this resolves. */
export async function completeExportFile(
  storage: Storage,
  file: ExportFile,
  pieces: readonly Piece[],
  signal: AbortSignal,
): Promise<void> {
  await storage.join(exportFileKey(file), pieces, { minFreeBytes }, signal);
}

/** Removes objects to which no row refers any longer. */
export async function removeExportPieces(storage: Storage, keys: Iterable<string>): Promise<void> {
  for (const key of keys) await storage.remove(key);
}

/** A signed storage URL for a file, or null if the service sends it itself. */
export function exportFileUrl(
  storage: Storage,
  file: ExportFile,
  headers: Pick<SignedUrlOptions, 'contentType' | 'contentDisposition'>,
): Promise<string | null> {
  return storage.signedUrl(exportFileKey(file), { ...headers, expiresInMs: signedForMs });
}

export function headExportFile(storage: Storage, file: ExportFile): Promise<StoredFile | null> {
  return storage.head(exportFileKey(file));
}

/** @param range value of the `Range` header, if it applies */
export function readExportFile(
  storage: Storage,
  file: ExportFile,
  reply: FastifyReply,
  range: string | undefined,
): Promise<StoredRead | null> {
  return readRange(range, reply, storage, exportFileKey(file));
}

export async function removeExportFiles(
  storage: Storage,
  keys: readonly ExportKey[],
): Promise<void> {
  for (const key of keys) await storage.removePrefix(folderOf(key));
}
