import type { Db, Tx } from '../../platform/database/database.ts';
import { inBatches } from '../../platform/database/batches.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import {
  failWithoutSource,
  findUnnamedSources,
  type FailedItem,
} from '../content/item-media/item-media.ts';
import { recordEvent } from '../webhooks/webhooks.ts';
import { findOpenSessions, removeExpiredSessions } from './queries.ts';
import { partsPrefix } from './resumable.ts';

const expiredAtOnce = 500;

const expired = {
  code: 'SOURCE_UNREACHABLE',
  message: 'The upload was not completed before its URL expired.',
} as const;

/** Expires overdue uploads: their items go to `error`, each with its event. */
export async function expireUploads(db: Db, signal: AbortSignal): Promise<void> {
  await inBatches(db, expiredAtOnce, signal, async (tx) => {
    const sessions = await removeExpiredSessions(tx, expiredAtOnce);
    const failed = await failWithoutSource(tx, sessions, expired);
    for (const item of failed) await recordFailure(tx, item);
    return sessions.length;
  });
}

async function recordFailure(tx: Tx, item: FailedItem): Promise<void> {
  const { organizationId, contentId, title } = item;
  await recordEvent(tx, organizationId, 'content.errored', {
    contentId,
    title,
    status: 'error',
    error: expired,
  });
}

/**
 * Removes the parts of resumable uploads that are complete, ended or expired.
 * @returns the number of removed files
 */
export async function sweepParts(db: Db, storage: Storage, signal: AbortSignal): Promise<number> {
  const files = new Map<string, string[]>();
  for await (const { key } of storage.list(partsPrefix, signal)) {
    const sessionId = key.split('/')[1] ?? '';
    files.set(sessionId, [...(files.get(sessionId) ?? []), key]);
  }
  // Queried after the listing, so files of sessions created in between are not in the list.
  const open = await findOpenSessions(db, [...files.keys()]);
  let removed = 0;
  for (const [sessionId, keys] of files) {
    if (open.has(sessionId)) continue;
    await storage.removePrefix(`${partsPrefix}/${sessionId}`, signal);
    removed += keys.length;
  }
  return removed;
}

/**
 * Each query scans the whole table, because no index has the keys: it would be updated with every
 * change to an item for the sake of one query a day. 500 keys took 42 ms with 140,000 items.
 */
const keysAtOnce = 20_000;

/**
 * Removes original files that a crash left without a row. Files written after `settledBefore` are
 * kept, because they may belong to an uncommitted transaction.
 * @returns how many were removed
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
