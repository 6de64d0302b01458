/**
 * Cuts the media of one connection into segments. Packets are passed on unchanged, because FLV and
 * MP4 contain the same ones.
 *
 * 1. The times of a stream continue across connections and jumps of the encoder's clock: each
 *    segment starts where the previous one ended.
 * 2. A segment ends at the first key frame after two seconds. It ends earlier, within a group of
 *    pictures, if it would exceed `maxLengthMs`, the limit that the playlist declares.
 * 3. A segment has one format. Another picture size, or a track that starts or ends, starts a new
 *    segment at a key frame.
 */
import type { RtmpMessage } from '../rtmp/messages.ts';
import { messageType } from '../rtmp/messages.ts';
import { readAacHeader, samplesPerFrame, type AacHeader } from './aac-header.ts';
import { EncoderClock } from './encoder-clock.ts';
import { readAudioTag, readVideoTag, type VideoTag } from './flv-tags.ts';
import { IngestError } from './ingest-error.ts';
import { sameTracks, type Tracks } from './init-segment.ts';
import { SegmentBuilder, type Picture, type LiveSegment } from './segment-builder.ts';
import { inStreamHeader, readVideoHeader, type VideoHeader } from './video-header.ts';

/** A segment ends at the first key frame after this time. */
const segmentMs = 2_000;
/** Encoders place key frames by their own clocks, so slightly less is accepted. */
const toleranceMs = 100;
/** Maximum length of the first segment of a stream. */
const longestFirstMs = 12_000;
/** A stream without a video header for this long is treated as audio only. */
const soundAloneAfterMs = 1_500;
const usualFrameMs = 33;

export type SegmenterStart = {
  /** Length published by earlier connections. */
  readonly baseMs: number;
  /** The number of the first segment, starting at 1. */
  readonly number: number;
  /** Maximum segment length that the playlist allows; null before the first segment. */
  readonly maxLengthMs: number | null;
  /** The header of the first pictures of the stream; null if there are none yet. */
  readonly firstRecord: Buffer | null;
  /** Whether pictures of different formats have been published. */
  readonly hasFormats: boolean;
  /** Maximum part length; null for segments of one part. */
  readonly partMs?: number | null;
  /** Whether pictures are kept for `takePictures`. */
  readonly keepsPictures?: boolean;
};

/** A picture of the broadcast, for its rungs. */
export type SegmentPicture = {
  /** The number of its segment in the playlist, starting at 0. */
  number: number;
  readonly video: VideoHeader;
  readonly isKey: boolean;
  /** Presentation time in milliseconds of the broadcast. */
  readonly shownMs: number;
  readonly data: Buffer;
};

export type OpenSegment = Pick<LiveSegment, 'parts' | 'startedAt' | 'tracks' | 'isDiscontinuity'>;

export class Segmenter {
  readonly #baseMs: number;
  #number: number;
  #maxLengthMs: number;
  #firstRecord: Buffer | null;
  #hasFormats: boolean;
  #clock: EncoderClock | null = null;
  /** The latest headers, which apply from the next segment on. */
  #video: VideoHeader | null = null;
  #audio: AacHeader | null = null;
  #builder: SegmentBuilder | null = null;
  /** Whether no segment has ended yet. */
  #isFirst = true;
  #knownJumps = 0;
  #firstSoundAt: number | null = null;
  #lastPictureMs: number | null = null;
  #frameMs = usualFrameMs;
  readonly #partMs: number;
  readonly #pictures: SegmentPicture[] = [];
  readonly #keepsPictures: boolean;

  constructor(start: SegmenterStart) {
    const { baseMs, number, maxLengthMs, firstRecord, hasFormats } = start;
    this.#partMs = start.partMs ?? Infinity;
    this.#keepsPictures = start.keepsPictures ?? false;
    this.#baseMs = baseMs;
    this.#number = number;
    this.#maxLengthMs = maxLengthMs ?? longestFirstMs;
    this.#firstRecord = firstRecord;
    this.#hasFormats = hasFormats;
  }

  /** Whether the stream can be shown: it has a key frame, or audio without pictures. */
  get hasStarted(): boolean {
    return this.#clock !== null;
  }

  get jumps(): number {
    return this.#clock?.jumps ?? 0;
  }

  get tracks(): Tracks {
    return this.#builder?.tracks ?? { video: this.#video, audio: this.#audio };
  }

  /** The segment being received, with its complete parts. */
  get open(): OpenSegment | null {
    return this.#builder;
  }

  limit(maxLengthMs: number): void {
    this.#maxLengthMs = maxLengthMs;
  }

  /** Returns the segments that the message completes. @throws {IngestError} */
  take({ type, timestamp, payload }: RtmpMessage): LiveSegment[] {
    if (type === messageType.audio) return this.#takeSound(timestamp, payload);
    if (type === messageType.video) return this.#takePicture(timestamp, payload);
    return [];
  }

  /**
   * Returns the pictures since the previous call. The latest one is held back unless `all` is set,
   * because it may start a segment.
   */
  takePictures({ all = false } = {}): SegmentPicture[] {
    return this.#pictures.splice(0, this.#pictures.length - (all ? 0 : 1));
  }

  /** Returns the last segment of a closed connection, or null if no media is left. */
  finish(): LiveSegment | null {
    const builder = this.#builder;
    if (builder === null) return null;
    return this.#cut(builder, (builder.lastMs ?? builder.startMs) + this.#frameMs);
  }

  #takePicture(timestamp: number, payload: Buffer): LiveSegment[] {
    const tag = readVideoTag(payload);
    if (tag === null) return [];
    if (tag.isHeader) {
      this.#takeVideoHeader(tag);
      return [];
    }
    if (this.#video === null) throw new IngestError('video arrived before its header');
    const hasPictures = this.#builder?.tracks.video != null;
    if (!hasPictures && !tag.isKey) return [];
    return this.#addPicture(tag, this.#pictureTime(timestamp));
  }

  /** Milliseconds since the start of the stream, later than the previous picture. */
  #pictureTime(timestamp: number): number {
    this.#clock ??= new EncoderClock(timestamp, this.#baseMs);
    const toldMs = this.#clock.timeOf('video', timestamp);
    const lastMs = this.#lastPictureMs;
    const atMs = lastMs === null ? toldMs : Math.max(toldMs, lastMs + 1);
    if (lastMs !== null) this.#frameMs = atMs - lastMs;
    this.#lastPictureMs = atMs;
    return atMs;
  }

  #addPicture(tag: VideoTag, atMs: number): LiveSegment[] {
    const ended: LiveSegment[] = [];
    let builder = this.#builder;
    if (builder !== null && atMs - builder.startMs > this.#maxLengthMs) {
      const rest = builder.takeLast();
      if (rest !== null) {
        ended.push(this.#cut(builder, rest.atMs));
        builder = this.#begin(rest.atMs, builder.tracks);
        builder.addPicture(rest);
        const moved = this.#pictures.at(-1);
        if (moved !== undefined) moved.number = this.#number - 1;
      }
    }
    if (builder !== null && tag.isKey && this.#isEnd(builder, atMs)) {
      ended.push(this.#cut(builder, atMs));
      builder = null;
    }
    builder ??= this.#begin(atMs);
    const { isKey, offsetMs } = tag;
    const picture = { data: this.#pictureData(tag), isKey, offsetMs, atMs };
    builder.addPicture(picture);
    this.#keep(picture, builder.tracks);
    return ended;
  }

  #keep({ atMs, data, isKey, offsetMs }: Picture, { video }: Tracks): void {
    if (!this.#keepsPictures || video === null) return;
    const shownMs = Math.max(0, atMs + offsetMs);
    this.#pictures.push({ number: this.#number - 1, video, isKey, shownMs, data });
  }

  #isEnd(builder: SegmentBuilder, atMs: number): boolean {
    const isLong = atMs - builder.startMs >= segmentMs - toleranceMs;
    const isSame = sameTracks(builder.tracks, { video: this.#video, audio: this.#audio });
    return isLong || !isSame || !builder.isIndependent || this.jumps !== this.#knownJumps;
  }

  /**
   * The recording is one file with one header, so pictures of any further format carry their own,
   * and from then on those of the first format as well.
   */
  #pictureData({ data, isKey }: VideoTag): Buffer {
    if (!isKey || !this.#hasFormats || this.#video === null) return data;
    return Buffer.concat([inStreamHeader(this.#video), data]);
  }

  #takeVideoHeader({ codecId, data: record }: VideoTag): void {
    if (this.#video?.record.equals(record) === true) return;
    if (this.#video !== null && this.#video.codecId !== codecId) {
      throw new IngestError('the video codec has changed');
    }
    this.#video = readVideoHeader(codecId, record);
    this.#firstRecord ??= record;
    if (!this.#firstRecord.equals(record)) this.#hasFormats = true;
  }

  #takeSound(timestamp: number, payload: Buffer): LiveSegment[] {
    const tag = readAudioTag(payload);
    if (tag === null) return [];
    if (tag.isHeader) {
      this.#takeAudioHeader(tag.data);
      return [];
    }
    if (this.#audio === null || !this.#isSoundWanted(timestamp)) return [];
    this.#clock ??= new EncoderClock(timestamp, this.#baseMs);
    const atMs = this.#clock.timeOf('audio', timestamp);
    if (atMs < this.#baseMs) return [];
    return this.#addSound(tag.data, atMs, this.#audio);
  }

  /** Audio before the first picture is dropped, unless the stream has no pictures. */
  #isSoundWanted(timestamp: number): boolean {
    if (this.#clock !== null) return true;
    if (this.#video !== null) return false;
    this.#firstSoundAt ??= timestamp;
    return ((timestamp - this.#firstSoundAt) | 0) >= soundAloneAfterMs;
  }

  #addSound(data: Buffer, atMs: number, { sampleRate }: AacHeader): LiveSegment[] {
    const frameMs = (samplesPerFrame * 1_000) / sampleRate;
    const ended: LiveSegment[] = [];
    let builder = this.#builder;
    const isAlone = builder === null ? this.#video === null : builder.tracks.video === null;
    if (isAlone) {
      const isFull = builder !== null && atMs + frameMs - builder.startMs > segmentMs;
      const hasJumped = this.jumps !== this.#knownJumps;
      if (builder !== null && (isFull || hasJumped)) {
        ended.push(this.#cut(builder, Math.max(Math.round(atMs), builder.startMs + 1)));
        builder = null;
      }
      this.#frameMs = Math.round(frameMs);
      builder ??= this.#begin(Math.round(atMs));
    }
    builder?.addSound(data, atMs);
    return ended;
  }

  #takeAudioHeader(config: Buffer): void {
    if (this.#audio?.config.equals(config) === true) return;
    if (this.#audio !== null && this.hasStarted) {
      throw new IngestError('the audio format has changed');
    }
    this.#audio = readAacHeader(config);
    // Some encoders send this header after the first pictures.
    if (this.#isFirst) this.#builder?.adoptSound(this.#audio);
  }

  #begin(
    startMs: number,
    tracks: Tracks = { video: this.#video, audio: this.#audio },
  ): SegmentBuilder {
    const hasJumped = this.jumps !== this.#knownJumps;
    this.#knownJumps = this.jumps;
    const isNew = this.#builder !== null && !sameTracks(this.#builder.tracks, tracks);
    const isDiscontinuity = hasJumped || isNew;
    const { nextSound = null, leftSounds: sounds = [] } = this.#builder ?? {};
    const [number, partMs] = [this.#number, this.#partMs];
    const start = { tracks, startMs, isDiscontinuity, nextSound, sounds, number, partMs };
    this.#builder = new SegmentBuilder(start);
    return this.#builder;
  }

  /** Ends the segment; `endMs` is the end of its last picture. */
  #cut(builder: SegmentBuilder, endMs: number): LiveSegment {
    const segment = builder.build(endMs);
    this.#isFirst = false;
    this.#number += 1;
    return segment;
  }
}
