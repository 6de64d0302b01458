/**
 * Completes a segment whose process was killed from the parts already published. Viewers have seen
 * them, and a playlist must not withdraw what it has listed.
 */
import { inTransaction, type Db } from '../../../platform/database/database.ts';
import type { Storage } from '../../../platform/storage/storage.ts';
import { lockEvenArchived } from '../../content/item-media/item-media.ts';
import type { LiveStreamKey } from '../queries.ts';
import { LiveFiles } from './live-files.ts';
import { readParts } from './part-queries.ts';
import {
  insertSegment,
  type StreamClaim,
  type ClaimedStream,
  type SettledStream,
  type StreamLength,
} from './publisher-queries.ts';

type LeftParts = {
  readonly db: Db;
  readonly storage: Storage;
  readonly stream: LiveStreamKey & { readonly contentId: string };
  readonly segment: number;
  readonly targetDurationSeconds: number;
  readonly dvrWindowSeconds: number;
  readonly by: StreamClaim | SettledStream;
};

/** @returns the length of the stream, or null if no parts were left or the claim is lost */
export async function keepLeftParts(of: LeftParts): Promise<StreamLength | null> {
  const { db, storage, stream, segment, by } = of;
  const parts = await readParts(db, stream, segment);
  const [first] = parts;
  if (first === undefined) return null;
  const { organizationId, contentId } = stream;
  const bytes = Buffer.concat(parts.map((part) => part.bytes));
  const durationMs = parts.reduce((sum, part) => sum + part.durationMs, 0);
  const fileName = first.fileName.replace('part-', 'kept-');
  const item = await inTransaction(db, (tx) => lockEvenArchived(tx, organizationId, contentId));
  if (item === null) return null;
  const { targetDurationSeconds, dvrWindowSeconds } = of;
  const { playback_id: playbackId } = item;
  const files = new LiveFiles({ db, storage, stream, dvrWindowSeconds, playbackId });
  await files.put(fileName, bytes);
  const { segmentStartedAt: startedAt, isDiscontinuity, format } = first;
  const length = await inTransaction(db, async (tx) => {
    await lockEvenArchived(tx, organizationId, contentId);
    return insertSegment(tx, by, {
      fileName,
      durationMs,
      sizeBytes: bytes.length,
      startedAt,
      isDiscontinuity,
      format,
      targetDurationSeconds,
    });
  });
  if (length === null) await files.remove(fileName);
  return length;
}

/** Returns the stream after completing the segment that its previous publisher left unfinished. */
export async function withLeftParts(
  db: Db,
  storage: Storage,
  stream: ClaimedStream & { readonly publisher: string },
): Promise<ClaimedStream> {
  const { segmentCount: segment, targetDurationSeconds, dvrWindowSeconds } = stream;
  if (targetDurationSeconds === null) return stream;
  const of = { db, storage, stream, segment, targetDurationSeconds, dvrWindowSeconds };
  return { ...stream, ...(await keepLeftParts({ ...of, by: stream })) };
}
