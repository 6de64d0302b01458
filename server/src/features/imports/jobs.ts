import { inTransaction, type Db } from '../../platform/database/database.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import { ApiError } from '../../platform/http/errors.ts';
import {
  done,
  failed,
  handle,
  skipped,
  type HandledJob,
  type JobAnswer,
  type JobContext,
} from '../../platform/queue/job-handler.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { recordTransfer } from '../content/content.ts';
import {
  acceptReceived,
  arrivedMedia,
  receiveMedia,
  withStoredSource,
  type UploadLimits,
} from '../uploads/uploads.ts';
import { failImport, importMedia } from './imports.ts';
import { deleteSource, findSourceUrl } from './queries.ts';
import { readSource, SourceError, type SourceLimits } from './source-body.ts';

export type ImportJobParts = {
  db: Db;
  storage: Storage;
  egress: Egress;
  upload: UploadLimits;
  limits: SourceLimits;
  concurrency: number;
  /** Called when an item waits for processing. */
  onImported: () => void;
};

const progressIntervalMs = 1_000;

/** Fetches the bytes of one item, stores them and enqueues their processing. */
export function importJob(parts: ImportJobParts): HandledJob {
  return handle(
    importMedia,
    async ({ contentId }, context) => {
      const url = await findSourceUrl(parts.db, context.organizationId, contentId);
      if (url === null) return skipped('the bytes are there, or the item is gone');
      try {
        await fetchInto(parts, context, contentId, url);
        parts.onImported();
        return done;
      } catch (error) {
        return await judge(context, contentId, error);
      }
    },
    { concurrency: parts.concurrency, timeoutMs: parts.limits.deadlineMs + 60_000 },
  );
}

async function fetchInto(
  { db, storage, egress, upload, limits }: ImportJobParts,
  context: JobContext,
  contentId: string,
  url: string,
): Promise<void> {
  const { organizationId, signal } = context;
  const progress = reportTransfer(db, organizationId, contentId);
  // A body that is refused would stay open, and its connection with it.
  await using body = readSource(url, {
    egress,
    limits,
    signal,
    onProgress: (bytes, total) => progress.report(bytes, total),
  });
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
}

/** Bytes that are at fault fail the item at once; everything else is tried again. */
async function judge(context: JobContext, contentId: string, error: unknown): Promise<JobAnswer> {
  const reason = reasonOf(error);
  if (reason === null) throw error;
  context.log.info({ contentId, err: error }, 'a source could not be imported');
  if (!reason.isFinal) return failed(reason.message, { retryable: true });
  await context.finish((tx) => failImport(tx, context.organizationId, contentId, reason));
  return done;
}

function reasonOf(error: unknown): { code: string; message: string; isFinal: boolean } | null {
  if (error instanceof SourceError) {
    const { code, message, isFinal } = error;
    return { code, message, isFinal };
  }
  if (!(error instanceof ApiError)) return null;
  const { message } = error;
  if (error.code === 'INVALID_MEDIA') return { code: 'UNSUPPORTED_MEDIA', message, isFinal: true };
  if (error.code === 'PAYLOAD_TOO_LARGE') return { code: 'TOO_LARGE', message, isFinal: true };
  return null;
}

/** Writes how far a transfer is, at most once a second. A lost write does not matter. */
function reportTransfer(db: Db, organizationId: string, contentId: string) {
  let writtenAt = performance.now();
  let writing: Promise<unknown> | null = null;
  return {
    report(bytes: number, total: number | null): void {
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
