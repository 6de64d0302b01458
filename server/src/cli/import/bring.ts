/**
 * Imports rows into a running service, each at most once, no matter how often a run is killed and
 * repeated.
 *
 * 1. An item is identified by its externalId. An existing item is left alone.
 * 2. An upload is opened with an idempotency key derived from the row. A repeated run gets the same
 *    upload URL and resumes at the byte where the previous one stopped, for up to 24 hours.
 * 3. An item whose bytes are rejected is removed. An item whose bytes never arrived (its upload URL
 *    expired) is replaced by a new one. Items that failed for another reason are reported and kept.
 */
import { createHash } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { ReelfeedError, type Admin } from '@reelfeed/client/server';
import type { ImportMetadata, ImportRow } from './rows.ts';

export type ImportOutcome =
  | { status: 'created' | 'existing'; id: string }
  | { status: 'failed'; problem: string };

type FileRow = ImportRow & { source: { file: string } };
type UrlRow = ImportRow & { source: { url: string } };

/** Uploads one local file. Throws the signal's reason, and errors that concern the whole run. */
export async function bringFile(
  admin: Admin,
  { metadata, source }: FileRow,
  onProgress: (sentBytes: number) => void,
  signal: AbortSignal,
): Promise<ImportOutcome> {
  let firstOffset: number | null = null;
  try {
    const known = await findItem(admin, metadata.externalId, signal);
    if (known?.isSettled === true) return known.outcome;
    if (known?.isAbandoned === true) await removeItem(admin, known.id, signal);
    const options = {
      // The service validates the metadata and reports what is wrong with it.
      metadata: metadata as { title: string },
      onProgress: ({ sentBytes }: { sentBytes: number }) => {
        firstOffset ??= sentBytes;
        onProgress(sentBytes);
      },
      signal,
    };
    const file = await openAsBlob(source.file);
    const { id } = await admin
      .upload(file, { ...options, idempotencyKey: keyOf(metadata) })
      .catch((error: unknown) => {
        // The URL from an earlier run has expired, or its item was deleted.
        if (statusOf(error) !== 404) throw error;
        return admin.upload(file, options);
      });
    // An earlier run sent everything, but ended before it could report it.
    return { status: firstOffset === file.size ? 'existing' : 'created', id };
  } catch (error) {
    const problem = problemOf(error, signal);
    if (isRefusal(error)) await removeRefused(admin, metadata.externalId, signal);
    return { status: 'failed', problem };
  }
}

/**
 * Removes an item whose bytes were rejected; otherwise it would stay pending until its upload
 * expires.
 */
async function removeRefused(admin: Admin, externalId: string, signal: AbortSignal): Promise<void> {
  const known = await findItem(admin, externalId, signal);
  if (known?.isWaiting === true) await removeItem(admin, known.id, signal);
}

/** Whether the service rejected the bytes, so a retry would be rejected as well. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof ReelfeedError)) return false;
  return error.code === 'INVALID_MEDIA' || error.code === 'PAYLOAD_TOO_LARGE';
}

/** Submits up to 100 URLs, which the service fetches in the background. */
export async function bringUrls(
  admin: Admin,
  rows: readonly UrlRow[],
  signal: AbortSignal,
): Promise<ImportOutcome[]> {
  const items = rows.map(({ metadata, source }) => ({ ...metadata, sourceUrl: source.url }));
  try {
    const { data } = await admin.post('/v1/content/import', { body: { items }, signal });
    return data.results.map(({ status, item, error }) =>
      status === 'failed' || item === undefined
        ? { status: 'failed', problem: error?.message ?? 'was rejected' }
        : { status, id: item.id },
    );
  } catch (error) {
    const problem = problemOf(error, signal);
    return rows.map(() => ({ status: 'failed', problem }));
  }
}

type Known = {
  id: string;
  isSettled: boolean;
  isAbandoned: boolean;
  /** Whether its bytes have yet to arrive. */
  isWaiting: boolean;
  outcome: ImportOutcome;
};

async function findItem(
  admin: Admin,
  externalId: string,
  signal: AbortSignal,
): Promise<Known | null> {
  const query = { externalId, archived: 'true', limit: 1 } as const;
  const { data } = await admin.get('/v1/content', { query, signal });
  const [item] = data;
  if (item === undefined) return null;
  const { id, uploadStatus, errorReason } = item;
  const isAbandoned = errorReason?.code === 'SOURCE_UNREACHABLE';
  const outcome: ImportOutcome =
    errorReason === null
      ? { status: 'existing', id }
      : { status: 'failed', problem: `was imported earlier and failed: ${errorReason.message}` };
  const isWaiting = uploadStatus === 'pending';
  return { id, isSettled: !isWaiting && !isAbandoned, isAbandoned, isWaiting, outcome };
}

async function removeItem(admin: Admin, id: string, signal: AbortSignal): Promise<void> {
  await admin.post('/v1/content/bulk/delete', { body: { ids: [id] }, signal });
}

function keyOf(metadata: ImportMetadata): string {
  return `import-${createHash('sha256').update(JSON.stringify(metadata)).digest('hex')}`;
}

function statusOf(error: unknown): number | null {
  return error instanceof ReelfeedError ? error.status : null;
}

/**
 * The problem with one row as a sentence. Rethrows errors that affect the whole run, such as a
 * wrong key.
 */
function problemOf(error: unknown, signal: AbortSignal): string {
  signal.throwIfAborted();
  if (!(error instanceof ReelfeedError)) throw error;
  if (error.status === null || error.status === 401 || error.status === 403) throw error;
  if (error.details.length > 0) {
    return error.details.map(({ path, message }) => `${path}: ${message}`).join('; ');
  }
  return error.message;
}

type Settled = { uploadStatus: string; problem: string | null };

/** The final state of an item; null while it is being processed. */
export async function findSettled(
  admin: Admin,
  id: string,
  signal: AbortSignal,
): Promise<Settled | null> {
  const { data } = await admin.get('/v1/content/{id}', { path: { id }, signal });
  const { uploadStatus, errorReason } = data;
  if (uploadStatus !== 'ready' && uploadStatus !== 'error') return null;
  return { uploadStatus, problem: errorReason?.message ?? null };
}
