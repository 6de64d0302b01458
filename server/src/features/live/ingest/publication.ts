/**
 * What one connection publishes: it claims the stream, makes it active with its first key frame, and
 * stores segment after segment until it is over.
 */
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Logger } from 'pino';
import { inTransaction, type Db, type Tx } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import type { Storage } from '../../../platform/storage/storage.ts';
import {
  isPresent,
  liveFolderOf,
  lockEvenArchived,
  markLive,
  type ItemRow,
} from '../../content/content.ts';
import { recordEvent } from '../../webhooks/webhooks.ts';
import { finishStream } from '../live.ts';
import { hashStreamKey } from '../stream-key.ts';
import type { RtmpMessage } from '../rtmp/messages.ts';
import type { RtmpPublication, RtmpRefusal } from '../rtmp/rtmp-connection.ts';
import { IngestError } from './ingest-error.ts';
import { initSegment } from './init-segment.ts';
import { masterPlaylist, mediaPlaylist, playlistFiles } from './playlists.ts';
import {
  activateStream,
  claimStream,
  countDiscontinuities,
  findStreamOfKey,
  insertSegment,
  readSegments,
  releaseClaim,
  renewClaim,
  type Claim,
  type ClaimedStream,
  type StreamLength,
} from './publisher-queries.ts';
import { Segmenter, type Segment } from './segmenter.ts';

export type IngestParts = {
  readonly db: Db;
  readonly storage: Storage;
  readonly log: Logger;
  /** A stream that is so long ends. */
  readonly maxDurationMs: number;
  /** Free space that a stream leaves to the database: it ends before. */
  readonly minFreeBytes: number;
  /** Called when a stream, or its item, has changed. */
  readonly onChange: () => void;
};

/** Segments that players are offered: about sixteen seconds. */
const listedSegments = 8;

/**
 * Claims the stream of a key. `handOver` may first let another publication of the stream store what it
 * has.
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
  const stream = await claimStream(parts.db, keyHash, publisher);
  if (stream === null) return 'ended';
  return new Publication(parts, stream, publisher);
}

export class Publication implements RtmpPublication {
  readonly #parts: IngestParts;
  readonly #stream: ClaimedStream;
  readonly #claim: Claim;
  readonly #segmenter: Segmenter;
  readonly #log: Logger;
  #playbackId = '';
  #isActive: boolean;
  /** Segments that this connection has stored. */
  #stored = 0;

  constructor(parts: IngestParts, stream: ClaimedStream, publisher: string) {
    const { organizationId, liveStreamId, contentId, durationMs, segmentCount, status } = stream;
    const { isTakeover } = stream;
    this.#parts = parts;
    this.#stream = stream;
    this.#claim = { organizationId, liveStreamId, contentId, publisher };
    this.#segmenter = new Segmenter(durationMs, segmentCount + 1);
    this.#log = parts.log.child({ liveStreamId });
    this.#isActive = status === 'active';
    const isReturn = segmentCount > 0;
    this.#log.info({ isReturn, isTakeover }, 'live stream: a publisher has connected');
  }

  get liveStreamId(): string {
    return this.#claim.liveStreamId;
  }

  /** Says that the publisher is there. False when it may publish no longer. */
  async renew(): Promise<boolean> {
    const { db, onChange } = this.#parts;
    const organizationId = this.#claim.organizationId as OrganizationId;
    if (await isPresent(db, organizationId, this.#claim.contentId)) {
      return renewClaim(db, this.#claim);
    }
    // The item was archived or permanently deleted.
    await inTransaction(db, (tx) => finishStream(tx, this.#claim));
    onChange();
    return false;
  }

  /** @throws IngestError when it cannot be broadcast, or the claim is lost */
  async media(message: RtmpMessage): Promise<void> {
    const segment = this.#segmenter.take(message);
    if (segment !== null) await this.#store(segment);
    if (!this.#isActive && this.#segmenter.hasStarted) await this.#activate();
  }

  /** Stores what waits, and lets others publish. */
  async close(error: Error | null): Promise<void> {
    this.#log.info({ reason: error?.message ?? null }, 'live stream: a publisher has left');
    try {
      const last = this.#segmenter.finish();
      if (last !== null) await this.#store(last);
    } catch (failure) {
      const level = failure instanceof IngestError ? 'info' : 'warn';
      this.#log[level]({ err: failure }, 'live stream: the last segment was not stored');
    }
    await releaseClaim(this.#parts.db, this.#claim);
  }

  async #activate(): Promise<void> {
    const { liveStreamId, contentId, organizationId } = this.#claim;
    await inTransaction(this.#parts.db, async (tx) => {
      const item = await this.#lockItem(tx);
      const startedAt = await activateStream(tx, this.#claim);
      if (startedAt === null) throw lost();
      await recordEvent(tx, organizationId, 'live_stream.active', {
        liveStreamId,
        contentId,
        title: item.title,
        status: 'active',
        startedAt: startedAt.toISOString(),
      });
    });
    this.#isActive = true;
    this.#parts.onChange();
  }

  async #store(segment: Segment): Promise<void> {
    const { db, storage, maxDurationMs } = this.#parts;
    const init = initSegment(this.#segmenter.tracks);
    if (this.#stream.initSegment !== null && !this.#stream.initSegment.equals(init)) {
      throw new IngestError('the format differs from what was published before');
    }
    await this.#requireSpace();
    const prefix = await this.#prefix();
    const isFirst = this.#stream.segmentCount + this.#stored === 0;
    const fileName = `${this.#claim.publisher.slice(0, 8)}-${this.#stored}.m4s`;
    await this.#put(fileName, segment.bytes);
    if (isFirst) await this.#putHeaders(init, fileName, segment);
    const length = await inTransaction(db, async (tx) => {
      await this.#lockItem(tx);
      const isDiscontinuity = this.#stored === 0 && !isFirst;
      const { durationMs, startedAt, bytes } = segment;
      const sizeBytes = bytes.length;
      const row = { fileName, durationMs, sizeBytes, startedAt, isDiscontinuity };
      const added = await insertSegment(tx, this.#claim, { ...row, initSegment: init });
      if (added === null) return null;
      const { width, height } = this.#segmenter.tracks.video;
      if (isFirst) await markLive(tx, this.#claim, { width, height });
      if (added.durationMs >= maxDurationMs) await finishStream(tx, this.#claim);
      return added;
    });
    if (length === null) {
      await storage.remove(`${prefix}/${fileName}`);
      throw lost();
    }
    this.#stored += 1;
    if (isFirst) this.#parts.onChange();
    await this.#putPlaylist(length);
  }

  /** Ends the stream when the disk is nearly full. What was stored is kept. */
  async #requireSpace(): Promise<void> {
    const { db, storage, minFreeBytes, onChange } = this.#parts;
    if ((await storage.scratch.freeBytes()) >= minFreeBytes) return;
    // A stream without any published segment can start once there is room.
    const hasBegun = this.#stream.segmentCount + this.#stored > 0;
    if (hasBegun) await inTransaction(db, (tx) => finishStream(tx, this.#claim));
    onChange();
    const message = 'live stream: the disk has less free space than REELFEED_MIN_FREE_BYTES';
    this.#log.warn({ isEnded: hasBegun }, message);
    throw new IngestError('the disk has no room for it');
  }

  /** What a player needs before the first segment is announced. */
  async #putHeaders(init: Buffer, fileName: string, segment: Segment): Promise<void> {
    const { bytes, durationMs, startedAt } = segment;
    const rate = { bits: bytes.length * 8, ms: durationMs };
    const listed = { number: 0, fileName, durationMs, startedAt, isDiscontinuity: false };
    await this.#put(playlistFiles.init, init);
    await this.#put(playlistFiles.master, masterPlaylist(this.#segmenter.tracks, rate));
    const playlist = { longestSegmentMs: durationMs, earlierDiscontinuities: 0, isEnded: false };
    await this.#put(playlistFiles.media, mediaPlaylist({ ...playlist, segments: [listed] }));
  }

  async #putPlaylist({ longestSegmentMs }: StreamLength): Promise<void> {
    const { db } = this.#parts;
    const segments = await readSegments(db, this.#claim, listedSegments);
    const first = segments[0]?.number ?? 0;
    const earlierDiscontinuities = await countDiscontinuities(db, this.#claim, first);
    const isEnded = false;
    const text = mediaPlaylist({ segments, longestSegmentMs, earlierDiscontinuities, isEnded });
    await this.#put(playlistFiles.media, text);
  }

  async #put(name: string, content: Buffer | string): Promise<void> {
    const bytes = typeof content === 'string' ? Buffer.from(content) : content;
    await this.#parts.storage.put(`${await this.#prefix()}/${name}`, Readable.from([bytes]));
  }

  async #prefix(): Promise<string> {
    if (this.#playbackId === '') {
      const item = await inTransaction(this.#parts.db, (tx) => this.#lockItem(tx));
      this.#playbackId = item.playback_id;
    }
    return `media/${liveFolderOf(this.#playbackId)}`;
  }

  /** Locks the item, which comes before its stream in every transaction. @throws when it is gone */
  async #lockItem(tx: Tx): Promise<ItemRow> {
    const { organizationId, contentId } = this.#claim;
    const item = await lockEvenArchived(tx, organizationId, contentId);
    if (item === null) throw lost();
    return item;
  }
}

function lost(): IngestError {
  return new IngestError('the stream has ended, its key was replaced, or another one publishes it');
}
