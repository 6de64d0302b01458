import { inTransaction, type Db } from '../../platform/database/database.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import {
  done,
  failed,
  handle,
  skipped,
  type HandledJob,
  type JobAnswer,
  type JobContext,
} from '../../platform/queue/job-handler.ts';
import type { SourceBuckets } from '../../platform/storage/source-buckets.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { dayMs } from '../../platform/values/time.ts';
import { recordTransfer } from '../content/item-media/item-media.ts';
import type { ImageDecoder } from '../media/media.ts';
import {
  acceptReceived,
  arrivedMedia,
  receiveMedia,
  withStoredSource,
  type UploadLimits,
} from '../uploads/uploads.ts';
import { faultOf, isShortage } from './faults.ts';
import { fetchImages } from './fetch-images.ts';
import { failImport, importMedia } from './imports.ts';
import { readObject } from './object-body.ts';
import { deleteSource, findSource, type ImageSource, type StoredSource } from './queries.ts';
import { readSource, type SourceLimits } from './source-body.ts';

export type ImportJobParts = {
  db: Db;
  storage: Storage;
  egress: Egress;
  buckets: SourceBuckets;
  imageDecoder: ImageDecoder;
  upload: UploadLimits;
  limits: SourceLimits;
  concurrency: number;
  /** Called when an item is waiting for processing. */
  onImported: () => void;
  /** Called when a carousel is ready. */
  onReady: () => void;
};

const progressIntervalMs = 1_000;
/** Time that an import waits for disk space. */
const shortageMs = dayMs;

/** Fetches the bytes of one item, stores them and enqueues processing. */
export function importJob(parts: ImportJobParts): HandledJob {
  return handle(
    importMedia,
    async ({ contentId }, context) => {
      const stored = await findSource(parts.db, context.organizationId, contentId);
      if (stored === null) return skipped('the bytes have arrived, or the item no longer exists');
      const { source } = stored;
      try {
        if ('url' in source) await fetchVideo(parts, context, contentId, source.url);
        else await fetchCarousel(parts, context, contentId, source.images);
        return done;
      } catch (error) {
        return await judge(context, contentId, stored, error);
      }
    },
    { concurrency: parts.concurrency, timeoutMs: parts.limits.deadlineMs + 60_000 },
  );
}

type OnProgress = (bytes: number, total: number | null) => void;

/**
 * Opens a source, wherever it is.
 * @throws {SourceError}
 */
function openSource(
  { egress, buckets, limits }: ImportJobParts,
  url: string,
  signal: AbortSignal,
  onProgress: OnProgress,
): AsyncGenerator<Buffer> {
  return url.startsWith('s3:')
    ? readObject(url, { buckets, limits, signal, onProgress })
    : readSource(url, { egress, limits, signal, onProgress });
}

async function fetchCarousel(
  parts: ImportJobParts,
  context: JobContext,
  contentId: string,
  images: readonly ImageSource[],
): Promise<void> {
  const { db, storage, upload, imageDecoder } = parts;
  const progress = reportTransfer(db, context.organizationId, contentId);
  const open = (url: string) => openSource(parts, url, context.signal, () => undefined);
  const fetching = { db, storage, upload, imageDecoder, open, onProgress: progress.report };
  try {
    await fetchImages(fetching, context, contentId, images);
  } finally {
    await progress.settled();
  }
  parts.onReady();
}

async function fetchVideo(
  parts: ImportJobParts,
  context: JobContext,
  contentId: string,
  url: string,
): Promise<void> {
  const { db, storage, upload } = parts;
  const { organizationId, signal } = context;
  const progress = reportTransfer(db, organizationId, contentId);
  // A rejected body would stay open and keep its connection.
  await using body = openSource(parts, url, signal, progress.report);
  const received = await receiveMedia(storage, body, upload, null, signal);
  await progress.settled();
  await using _file = received.file;
  const media = arrivedMedia(storage, received);
  await withStoredSource(storage, contentId, media, async (key) => {
    let isTaken = false;
    await context.finish(async (tx) => {
      isTaken = await acceptReceived(tx, { organizationId, contentId, key, media });
      await deleteSource(tx, organizationId, contentId);
    });
    if (!isTaken) await storage.remove(key);
  });
  parts.onImported();
}

/** Fails the item immediately if its bytes are at fault; anything else is retried. */
async function judge(
  context: JobContext,
  contentId: string,
  { ageMs }: StoredSource,
  error: unknown,
): Promise<JobAnswer> {
  const { organizationId, log } = context;
  const fail = async (fault: { code: string; message: string }): Promise<JobAnswer> => {
    await context.finish((tx) => failImport(tx, organizationId, contentId, fault));
    return done;
  };
  if (isShortage(error)) {
    // The source is not at fault: the import waits without counting an attempt.
    log.warn({ contentId, err: error }, 'import waiting for free storage space');
    if (ageMs < shortageMs) return { outcome: 'outage', reason: error.message };
    return fail({
      code: 'INSUFFICIENT_STORAGE',
      message: 'There was not enough storage space for the file.',
    });
  }
  const fault = faultOf(error);
  if (fault === null) throw error;
  log.info({ contentId, err: error }, 'source could not be imported');
  return fault.isFinal ? fail(fault) : failed(fault.message, { retryable: true });
}

/** Writes transfer progress at most once per second. Losing a write is harmless. */
function reportTransfer(db: Db, organizationId: string, contentId: string) {
  let writtenAt = performance.now();
  let writing: Promise<unknown> | null = null;
  return {
    report: (bytes: number, total: number | null): void => {
      const nowMs = performance.now();
      if (total === null || writing !== null || nowMs - writtenAt < progressIntervalMs) return;
      writtenAt = nowMs;
      const fraction = Math.min(1, bytes / Math.max(1, total));
      writing = inTransaction(db, (tx) => recordTransfer(tx, organizationId, contentId, fraction))
        .catch(() => undefined)
        .finally(() => {
          writing = null;
        });
    },
    settled: async () => void (await writing),
  };
}
