/**
 * What one connection publishes: it claims the stream, makes it active with its first key frame, and
 * stores segment after segment until it is over.
 */
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { inTransaction, type Db, type Tx } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import type { Storage } from '../../../platform/storage/storage.ts';
import { isPresent, lockEvenArchived, markLive, type ItemRow } from '../../content/content.ts';
import { recordEvent } from '../../webhooks/webhooks.ts';
import { leaveStream } from '../disconnections.ts';
import { finishStream } from '../live.ts';
import { hashStreamKey } from '../stream-key.ts';
import type { RtmpMessage } from '../rtmp/messages.ts';
import type { RtmpPublication, RtmpRefusal } from '../rtmp/rtmp-connection.ts';
import { formatOf, loadFormats, recordedTracks, storedFormat, type Format } from './formats.ts';
import { IngestError } from './ingest-error.ts';
import { sameTracks } from './init-segment.ts';
import { withLeftParts } from './left-parts.ts';
import { LiveFiles } from './live-files.ts';
import type { LiveThumbnails } from './live-thumbnails.ts';
import { PartPublisher, partsKeptSeconds, partTargetMs } from './part-publisher.ts';
import { deleteOldParts } from './part-queries.ts';
import { longestSegmentMs, targetDurationOf } from './playlists.ts';
import {
  activateStream,
  claimStream,
  findStreamOfKey,
  insertFormat,
  insertSegment,
  markReconnected,
  renewClaim,
  type Claim,
  type ClaimedStream,
} from './publisher-queries.ts';
import type { Segment } from './segment-builder.ts';
import { Segmenter, type OpenSegment } from './segmenter.ts';
import { StreamMeter } from './stream-meter.ts';

export type IngestParts = {
  readonly db: Db;
  readonly storage: Storage;
  readonly log: Logger;
  readonly thumbnails: LiveThumbnails;
  /** A stream that is so long ends. */
  readonly maxDurationMs: number;
  /** Free space that a stream leaves to the database: it ends before. */
  readonly uploadLimits: { readonly minFreeBytes: number };
  /** Called when a stream, or its item, has changed. */
  readonly onChange: () => void;
  /** Called when a stream has another part or segment. */
  readonly onAdded: (liveStreamId: string) => void;
};

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
  const claimed = await claimStream(parts.db, keyHash, publisher);
  if (claimed === null) return 'ended';
  const stream = await withLeftParts(parts.db, parts.storage, { ...claimed, publisher });
  return new Publication(parts, stream, publisher, await loadFormats(parts.db, stream));
}

export class Publication implements RtmpPublication {
  readonly #parts: IngestParts;
  readonly #stream: ClaimedStream;
  readonly #claim: Claim;
  readonly #formats: Format[];
  readonly #segmenter: Segmenter;
  readonly #meter = new StreamMeter();
  readonly #log: Logger;
  readonly #partPublisher: PartPublisher;
  #files: LiveFiles | null = null;
  #isActive: boolean;
  /** Whether this connection has something to show. */
  #hasStarted = false;
  /** Segments that this connection has stored. */
  #stored = 0;

  constructor(
    parts: IngestParts,
    stream: ClaimedStream,
    publisher: string,
    formats: readonly Format[],
  ) {
    const { organizationId, liveStreamId, contentId, durationMs, segmentCount, status } = stream;
    const { isTakeover, targetDurationSeconds: target } = stream;
    this.#parts = parts;
    this.#stream = stream;
    this.#claim = { organizationId, liveStreamId, contentId, publisher };
    this.#formats = [...formats];
    this.#segmenter = new Segmenter({
      baseMs: durationMs,
      number: segmentCount + 1,
      maxLengthMs: target === null ? null : longestSegmentMs(target),
      firstRecord: recordedTracks(formats).video?.record ?? null,
      hasFormats: formats.filter(({ tracks }) => tracks.video !== null).length > 1,
      partMs: stream.latency === 'low' ? partTargetMs : null,
    });
    this.#log = parts.log.child({ liveStreamId });
    const [claim, log] = [this.#claim, this.#log];
    const onAdded = () => parts.onAdded(liveStreamId);
    this.#partPublisher = new PartPublisher({ db: parts.db, claim, log, onAdded });
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
    const { hasStarted, tracks, jumps } = this.#segmenter;
    if (await isPresent(db, organizationId, this.#claim.contentId)) {
      return renewClaim(db, this.#claim, hasStarted ? this.#meter.read(tracks, jumps) : null);
    }
    // The item was archived or permanently deleted.
    await inTransaction(db, (tx) => finishStream(tx, this.#claim));
    onChange();
    return false;
  }

  /** @throws IngestError when it cannot be broadcast, or the claim is lost */
  async media(message: RtmpMessage): Promise<void> {
    this.#meter.take(message);
    for (const segment of this.#segmenter.take(message)) await this.#store(segment);
    if (!this.#hasStarted && this.#segmenter.hasStarted) await this.#start();
    if (this.#segmenter.open !== null) await this.#publishParts(this.#segmenter.open);
  }

  /**
   * Parts have the headers and the target duration of segments before them, so the first segment of a
   * stream, and of a format, is published as a whole.
   */
  async #publishParts(open: OpenSegment): Promise<void> {
    const segment = this.#stream.segmentCount + this.#stored;
    const format = this.#formats.find(({ tracks }) => sameTracks(tracks, open.tracks));
    if (this.#stream.latency !== 'low' || segment === 0 || format === undefined) return;
    const isDiscontinuity = this.#isDiscontinuity(open);
    await this.#partPublisher.publish(open, { segment, format: format.number, isDiscontinuity });
  }

  /** What a further connection sends does not continue what the one before has sent. */
  #isDiscontinuity({ isDiscontinuity }: Pick<Segment, 'isDiscontinuity'>): boolean {
    return isDiscontinuity || (this.#stored === 0 && this.#stream.segmentCount > 0);
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
    await inTransaction(this.#parts.db, async (tx) => {
      const item = await lockEvenArchived(tx, this.#claim.organizationId, this.#claim.contentId);
      await leaveStream(tx, this.#claim, item?.title ?? '');
    });
    this.#parts.onChange();
  }

  /** The first picture of this connection: the stream becomes active, or its publisher is back. */
  async #start(): Promise<void> {
    const { liveStreamId, contentId, organizationId } = this.#claim;
    await inTransaction(this.#parts.db, async (tx) => {
      const { title } = await this.#lockItem(tx);
      const stream = { liveStreamId, contentId, title, status: 'active' as const };
      if (this.#isActive) {
        const disconnectedAt = await markReconnected(tx, this.#claim);
        if (disconnectedAt === null) return;
        await recordEvent(tx, organizationId, 'live_stream.reconnected', {
          ...stream,
          disconnectedAt: disconnectedAt.toISOString(),
        });
        return;
      }
      const startedAt = await activateStream(tx, this.#claim);
      if (startedAt === null) throw lost();
      await recordEvent(tx, organizationId, 'live_stream.active', {
        ...stream,
        startedAt: startedAt.toISOString(),
      });
    });
    this.#hasStarted = true;
    this.#isActive = true;
    this.#parts.onChange();
  }

  async #store(segment: Segment): Promise<void> {
    if (!this.#hasStarted) await this.#start();
    await this.#publishParts(segment);
    const format = formatOf(this.#formats, segment.tracks);
    await this.#requireSpace();
    const files = await this.#openFiles();
    const isFirst = this.#stream.segmentCount + this.#stored === 0;
    const fileName = `${this.#claim.publisher.slice(0, 8)}-${this.#stored}.m4s`;
    await files.put(fileName, segment.bytes);
    if (!this.#formats.includes(format)) await files.putHeader(format);
    if (isFirst) await files.putFirst(fileName, segment);
    const length = await this.#insert({ segment, format, fileName, isFirst });
    if (length === null) {
      await files.remove(fileName);
      throw lost();
    }
    if (!this.#formats.includes(format)) this.#formats.push(format);
    this.#stored += 1;
    this.#segmenter.limit(longestSegmentMs(length.targetDurationSeconds));
    this.#parts.onAdded(this.liveStreamId);
    if (isFirst) this.#parts.onChange();
    if (length.status === 'ended') return;
    await files.putPlaylist(length.targetDurationSeconds);
    this.#parts.thumbnails.offer(files, segment);
  }

  /** @returns the stream's length; null when the claim is lost */
  async #insert({ segment, format, fileName, isFirst }: SegmentToInsert) {
    const { db, maxDurationMs } = this.#parts;
    return inTransaction(db, async (tx) => {
      await this.#lockItem(tx);
      const { durationMs, startedAt, bytes, tracks } = segment;
      const added = await insertSegment(tx, this.#claim, {
        fileName,
        durationMs,
        sizeBytes: bytes.length,
        startedAt,
        isDiscontinuity: this.#isDiscontinuity(segment),
        format: format.number,
        targetDurationSeconds: targetDurationOf(durationMs),
      });
      if (added === null) return null;
      await insertFormat(tx, this.#claim, storedFormat(format));
      const { width = null, height = null } = tracks.video ?? {};
      if (isFirst) await markLive(tx, this.#claim, { width, height });
      const keptSeconds = partsKeptSeconds(added.targetDurationSeconds);
      if (this.#stream.latency === 'low') await deleteOldParts(tx, this.#claim, keptSeconds);
      if (added.durationMs >= maxDurationMs) await finishStream(tx, this.#claim);
      return added;
    });
  }

  /** Ends the stream when the disk is nearly full. What was stored is kept. */
  async #requireSpace(): Promise<void> {
    const { db, storage, uploadLimits, onChange } = this.#parts;
    if ((await storage.scratch.freeBytes()) >= uploadLimits.minFreeBytes) return;
    // A stream without any published segment can start once there is room.
    const hasBegun = this.#stream.segmentCount + this.#stored > 0;
    if (hasBegun) await inTransaction(db, (tx) => finishStream(tx, this.#claim));
    onChange();
    const message = 'live stream: the disk has less free space than REELFEED_MIN_FREE_BYTES';
    this.#log.warn({ isEnded: hasBegun }, message);
    throw new IngestError('the disk has no room for it');
  }

  async #openFiles(): Promise<LiveFiles> {
    if (this.#files === null) {
      const { db, storage } = this.#parts;
      const { playback_id: playbackId } = await inTransaction(db, (tx) => this.#lockItem(tx));
      const { dvrWindowSeconds } = this.#stream;
      const stream = this.#claim;
      this.#files = new LiveFiles({ db, storage, stream, dvrWindowSeconds, playbackId });
    }
    return this.#files;
  }

  /** Locks the item, which comes before its stream in every transaction. @throws when it is gone */
  async #lockItem(tx: Tx): Promise<ItemRow> {
    const { organizationId, contentId } = this.#claim;
    const item = await lockEvenArchived(tx, organizationId, contentId);
    if (item === null) throw lost();
    return item;
  }
}

type SegmentToInsert = { segment: Segment; format: Format; fileName: string; isFirst: boolean };

function lost(): IngestError {
  return new IngestError('the stream has ended, its key was replaced, or another one publishes it');
}
