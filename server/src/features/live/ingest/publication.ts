/**
 * The publication of one connection: claims the stream, activates it at its first key frame, and
 * stores its segments until it ends.
 */
import type { Logger } from 'pino';
import { awaitedLater } from '../../../platform/async/awaited-later.ts';
import { inTransaction, type Db, type Tx } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import type { Storage } from '../../../platform/storage/storage.ts';
import { isPresent, type ItemRow } from '../../content/content.ts';
import { lockEvenArchived, markLive } from '../../content/item-media/item-media.ts';
import { leaveStream } from '../disconnections.ts';
import type { LadderOptions } from '../ladder/live-ladder.ts';
import type { LiveRung } from '../ladder/rung-queries.ts';
import { Rungs } from '../ladder/rungs.ts';
import { finishStream } from '../live.ts';
import { Relays, type SimulcastParts } from '../simulcast/relays.ts';
import type { RtmpMessage } from '../rtmp/messages.ts';
import type { RtmpPublication } from '../rtmp/rtmp-connection.ts';
import { beginBroadcast } from './begin-broadcast.ts';
import { formatOf, recordedTracks, storedFormat, type StreamFormat } from './formats.ts';
import { IngestError } from './ingest-error.ts';
import { sameTracks } from './init-segment.ts';
import { LiveFiles } from './live-files.ts';
import type { LiveThumbnails } from './live-thumbnails.ts';
import { PartPublisher, partsKeptSeconds, partTargetMs } from './part-publisher.ts';
import { deleteOldParts } from './part-queries.ts';
import { longestSegmentMs, targetDurationOf } from './playlists.ts';
import {
  insertFormat,
  insertSegment,
  renewClaim,
  type StreamClaim,
  type ClaimedStream,
} from './publisher-queries.ts';
import type { LiveSegment } from './segment-builder.ts';
import { Segmenter, type OpenSegment } from './segmenter.ts';
import { StreamMeter } from './stream-meter.ts';

export type IngestParts = {
  readonly db: Db;
  readonly storage: Storage;
  readonly log: Logger;
  readonly thumbnails: LiveThumbnails;
  readonly ladder: LadderOptions;
  readonly simulcast: SimulcastParts;
  /** Streams end when they reach this duration. */
  readonly maxDurationMs: number;
  /** Streams end before free space falls below this limit, so that the database has space left. */
  readonly uploadLimits: { readonly minFreeBytes: number };
  readonly onChange: () => void;
  /** Called when a stream has a new part or segment. */
  readonly onAdded: (liveStreamId: string) => void;
};

/** The state of the stream left by earlier connections. */
export type Before = {
  stream: ClaimedStream;
  formats: readonly StreamFormat[];
  rungs: readonly LiveRung[];
};

/**
 * Maximum time that the first segment waits for its rungs, so that they are available to the first
 * viewers.
 */
const maxFirstWaitMs = 1_000;

export class Publication implements RtmpPublication {
  readonly #parts: IngestParts;
  readonly #stream: ClaimedStream;
  readonly #claim: StreamClaim;
  readonly #formats: StreamFormat[];
  readonly #segmenter: Segmenter;
  readonly #meter = new StreamMeter();
  readonly #log: Logger;
  readonly #partPublisher: PartPublisher;
  #files: LiveFiles | null = null;
  #isActive: boolean;
  #hasStarted = false;
  #stored = 0;
  readonly #rungs: Rungs;
  readonly #relays: Relays;
  /** The first segment of the stream while it waits for its rungs. */
  #first: { segment: LiveSegment; atMs: number } | null = null;

  constructor(parts: IngestParts, publisher: string, { stream, formats, rungs }: Before) {
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
      keepsPictures: parts.ladder.steps.length > 0,
    });
    const { db, ladder, simulcast } = parts;
    const [claim, log] = [this.#claim, parts.log.child({ liveStreamId })];
    this.#log = log;
    this.#relays = new Relays(simulcast, claim, log);
    const onAdded = () => parts.onAdded(liveStreamId);
    this.#rungs = new Rungs({ db, ladder, log, claim, rungs, onAdded });
    this.#partPublisher = new PartPublisher({ db, claim, log, onAdded });
    this.#isActive = status === 'active';
    const isReturn = segmentCount > 0;
    this.#log.info({ isReturn, isTakeover }, 'live stream: publisher connected');
  }

  get liveStreamId(): string {
    return this.#claim.liveStreamId;
  }

  /** Renews the claim. Returns false if the connection may no longer publish. */
  async renew(): Promise<boolean> {
    const { db, onChange } = this.#parts;
    const organizationId = this.#claim.organizationId as OrganizationId;
    const { hasStarted, tracks, jumps } = this.#segmenter;
    if (await isPresent(db, organizationId, this.#claim.contentId)) {
      if (hasStarted) this.#relays.refresh();
      const health = hasStarted ? this.#meter.read(tracks, jumps, this.#rungs.states) : null;
      return renewClaim(db, this.#claim, health);
    }
    // The item was archived or permanently deleted.
    await inTransaction(db, (tx) => finishStream(tx, this.#claim));
    onChange();
    return false;
  }

  /** @throws {IngestError} if the media cannot be broadcast or the claim is lost */
  async media(message: RtmpMessage): Promise<void> {
    this.#meter.take(message);
    const ended = this.#segmenter.take(message);
    this.#relays.take(message);
    this.#rungs.take(this.#segmenter.takePictures());
    await this.#storeFirst({ isDue: ended.length > 0 });
    for (const segment of ended) await this.#storeOrHold(segment);
    if (!this.#hasStarted && this.#segmenter.hasStarted) await this.#start();
    if (this.#segmenter.open !== null) await this.#publishParts(this.#segmenter.open);
  }

  /**
   * Parts rely on the header and target duration of earlier segments, so the first segment of a
   * stream and of a format is published as a whole.
   */
  async #publishParts(open: OpenSegment): Promise<void> {
    const segment = this.#stream.segmentCount + this.#stored;
    const format = this.#formats.find(({ tracks }) => sameTracks(tracks, open.tracks));
    if (this.#stream.latency !== 'low' || segment === 0 || format === undefined) return;
    const isDiscontinuity = this.#isDiscontinuity(open);
    await this.#partPublisher.publish(open, { segment, format: format.number, isDiscontinuity });
  }

  /** The first segment of a connection does not continue that of the previous connection. */
  #isDiscontinuity({ isDiscontinuity }: Pick<LiveSegment, 'isDiscontinuity'>): boolean {
    return isDiscontinuity || (this.#stored === 0 && this.#stream.segmentCount > 0);
  }

  metadata(message: RtmpMessage): void {
    this.#relays.takeMetadata(message);
  }

  /** Stores the remaining media and releases the claim. */
  async close(error: Error | null): Promise<void> {
    this.#log.info({ reason: error?.message ?? null }, 'live stream: publisher disconnected');
    const relayed = awaitedLater(this.#relays.close());
    try {
      this.#rungs.take(this.#segmenter.takePictures({ all: true }));
      await this.#storeFirst({ isDue: true });
      const last = this.#segmenter.finish();
      if (last !== null) await this.#store(last);
    } catch (failure) {
      const level = failure instanceof IngestError ? 'info' : 'warn';
      this.#log[level]({ err: failure }, 'live stream: could not store the last segment');
    }
    await this.#rungs.finish();
    await inTransaction(this.#parts.db, async (tx) => {
      const item = await lockEvenArchived(tx, this.#claim.organizationId, this.#claim.contentId);
      await leaveStream(tx, this.#claim, item?.title ?? '');
    });
    await relayed;
    this.#parts.onChange();
  }

  /** Handles the first picture of this connection, see `begin-broadcast.ts`. */
  async #start(): Promise<void> {
    await inTransaction(this.#parts.db, async (tx) => {
      const { title } = await this.#lockItem(tx);
      const isOurs = await beginBroadcast(tx, this.#claim, { title, isActive: this.#isActive });
      if (!isOurs) throw lost();
    });
    this.#hasStarted = true;
    this.#isActive = true;
    this.#parts.onChange();
  }

  async #storeOrHold(segment: LiveSegment): Promise<void> {
    const isFirst = this.#stream.segmentCount + this.#stored === 0;
    if (isFirst && !this.#rungs.hasMade(0)) this.#first = { segment, atMs: performance.now() };
    else await this.#store(segment);
  }

  /** Stores the first segment if it is due, its rungs are ready, or it has waited long enough. */
  async #storeFirst({ isDue }: { isDue: boolean }): Promise<void> {
    if (this.#first === null) return;
    const { segment, atMs } = this.#first;
    const isMade = this.#rungs.hasMade(0);
    if (!isDue && !isMade && performance.now() - atMs < maxFirstWaitMs) return;
    this.#first = null;
    await this.#store(segment);
  }

  async #store(segment: LiveSegment): Promise<void> {
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
    const { targetDurationSeconds } = length;
    this.#segmenter.limit(longestSegmentMs(targetDurationSeconds));
    const number = length.segmentCount - 1;
    const top = { number, fileName, format: format.number, segment, targetDurationSeconds };
    this.#rungs.topStored(files, top);
    this.#parts.onAdded(this.liveStreamId);
    if (isFirst) this.#parts.onChange();
    if (length.status === 'ended') return;
    await files.putPlaylist(targetDurationSeconds);
    this.#parts.thumbnails.offer(files, segment);
  }

  /** @returns the stream's length, or null if the claim is lost */
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

  /** Ends the stream if the disk is nearly full. Stored segments are kept. */
  async #requireSpace(): Promise<void> {
    const { db, storage, uploadLimits, onChange } = this.#parts;
    if ((await storage.scratch.freeBytes()) >= uploadLimits.minFreeBytes) return;
    // A stream without a published segment can start once there is space.
    const hasBegun = this.#stream.segmentCount + this.#stored > 0;
    if (hasBegun) await inTransaction(db, (tx) => finishStream(tx, this.#claim));
    onChange();
    const message = 'live stream: the disk has less free space than REELFEED_MIN_FREE_BYTES';
    this.#log.warn({ isEnded: hasBegun }, message);
    throw new IngestError('the disk is full');
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

  /**
   * Locks the item, which every transaction locks before its stream. Throws if it no longer exists.
   */
  async #lockItem(tx: Tx): Promise<ItemRow> {
    const { organizationId, contentId } = this.#claim;
    const item = await lockEvenArchived(tx, organizationId, contentId);
    if (item === null) throw lost();
    return item;
  }
}

type SegmentToInsert = {
  segment: LiveSegment;
  format: StreamFormat;
  fileName: string;
  isFirst: boolean;
};

function lost(): IngestError {
  return new IngestError(
    'the stream has ended, its key was replaced, or another publisher took over',
  );
}
