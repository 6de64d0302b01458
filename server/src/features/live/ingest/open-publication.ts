import { randomUUID } from 'node:crypto';
import { readRungs } from '../ladder/rung-queries.ts';
import type { RtmpRefusal } from '../rtmp/rtmp-connection.ts';
import { hashStreamKey } from '../stream-key.ts';
import { loadFormats } from './formats.ts';
import { withLeftParts } from './left-parts.ts';
import { Publication, type IngestParts } from './publication.ts';
import { claimStream, findStreamOfKey } from './publisher-queries.ts';

/**
 * Claims the stream of a key. `handOver` first lets a current publication of the stream store its
 * media.
 */
export async function openPublication(
  parts: IngestParts,
  key: string,
  handOver: (liveStreamId: string) => Promise<void>,
): Promise<Publication | RtmpRefusal> {
  const keyHash = hashStreamKey(key);
  if (keyHash === null) return 'unknown';
  const known = await findStreamOfKey(parts.db, keyHash);
  if (known === null) return 'unknown';
  await handOver(known.liveStreamId);
  const publisher = randomUUID();
  const claimed = await claimStream(parts.db, keyHash, publisher);
  if (claimed === null) return 'ended';
  const stream = await withLeftParts(parts.db, parts.storage, { ...claimed, publisher });
  const formats = await loadFormats(parts.db, stream);
  return new Publication(parts, publisher, {
    stream,
    formats,
    rungs: await readRungs(parts.db, stream),
  });
}
