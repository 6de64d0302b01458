import { inTransaction, type Db, type Tx } from '../../platform/database/database.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { recordEvent } from '../webhooks/webhooks.ts';
import { expireSessions, findUnnamedSources, type FailedUpload } from './queries.ts';

const expiredAtOnce = 500;

/** Ends the uploads whose time is over, each with its event. */
export async function expireUploads(db: Db, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const count = await inTransaction(db, async (tx) => {
      const failed = await expireSessions(tx, expiredAtOnce);
      for (const upload of failed) await recordFailure(tx, upload);
      return failed.length;
    });
    if (count < expiredAtOnce) return;
  }
}

async function recordFailure(tx: Tx, upload: FailedUpload): Promise<void> {
  const { organizationId, contentId, title, code, message } = upload;
  const error = { code, message };
  await recordEvent(tx, organizationId, 'content.errored', {
    contentId,
    title,
    status: 'error',
    error,
  });
}

/**
 * Each question reads the whole table once, since no index has the keys: it would be written with
 * every change of an item, for one question a day. 500 keys took 42 ms of 140,000 items.
 */
const keysAtOnce = 20_000;

/**
 * Removes original files that a kill left without a row. Files that were written after
 * `settledBefore` are left alone: they may belong to a transaction that has not committed yet.
 *
 * @returns how many
 */
export async function sweepSources(
  db: Db,
  storage: Storage,
  settledBefore: Date,
  signal: AbortSignal,
): Promise<number> {
  let removed = 0;
  let keys: string[] = [];
  const flush = async () => {
    for (const key of await findUnnamedSources(db, keys)) {
      await storage.remove(key, signal);
      removed += 1;
    }
    keys = [];
  };
  for await (const file of storage.list('sources', signal)) {
    if (file.modifiedAt >= settledBefore) continue;
    keys.push(file.key);
    if (keys.length >= keysAtOnce) await flush();
  }
  await flush();
  return removed;
}
