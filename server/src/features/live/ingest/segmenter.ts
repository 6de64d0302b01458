/**
 * Cuts what one connection publishes into segments. Pictures and sound are passed on as they are: FLV
 * and MP4 hold the same packets.
 *
 * 1. The times of a stream go on from connection to connection, and through jumps of the encoder's
 *    clock: each begins where the one before ended.
 * 2. A segment ends at the first key frame after two seconds. It ends before that, in mid-picture
 *    group, where it would be longer than `maxLengthMs`: a playlist promises its longest segment.
 * 3. A segment has one format. Another size of the picture, or a track that comes or goes, begins a
 *    new one at a key frame.
 */
import type { RtmpMessage } from '../rtmp/messages.ts';
import { messageType } from '../rtmp/messages.ts';
import { readAacHeader, samplesPerFrame, type AacHeader } from './aac-header.ts';
import { EncoderClock } from './encoder-clock.ts';
import { readAudioTag, readVideoTag, type VideoTag } from './flv-tags.ts';
import { IngestError } from './ingest-error.ts';
import { sameTracks, type Tracks } from './init-segment.ts';
import { SegmentBuilder, type Picture, type Segment } from './segment-builder.ts';
import { inStreamHeader, readVideoHeader, type VideoHeader } from './video-header.ts';

/** A segment ends at the first key frame after so long. */
const segmentMs = 2_000;
/** Encoders place key frames by their own clocks, so a little less counts as well. */
const toleranceMs = 100;
/** The longest segment of a stream that has none yet. */
const longestFirstMs = 12_000;
/** A stream whose pictures have no header for so long has none. */
const soundAloneAfterMs = 1_500;
const usualFrameMs = 33;

export type SegmenterStart = {
  /** Length of what earlier connections have published. */
  readonly baseMs: number;
  /** The number of the first segment, counted from 1. */
  readonly number: number;
  /** The longest segment that the playlist allows; null before the first one. */
  readonly maxLengthMs: number | null;
  /** The header of the first pictures of the stream; null before there are any. */
  readonly firstRecord: Buffer | null;
  /** Whether pictures of another format have been published. */
  readonly hasFormats: boolean;
  /** The longest part of a segment; null for segments of one part. */
  readonly partMs?: number | null;
  /** Whether pictures are kept for `takePictures`. */
  readonly keepsPictures?: boolean;
};

/** A picture of the broadcast, for its rungs. */
export type SegmentPicture = {
  /** The segment that it belongs to, as in its playlist: counted from 0. */
  number: number;
  readonly video: VideoHeader;
  readonly isKey: boolean;
  /** When it is shown, in milliseconds of the broadcast. */
  readonly shownMs: number;
  readonly data: Buffer;
};

export type OpenSegment = Pick<Segment, 'parts' | 'startedAt' | 'tracks' | 'isDiscontinuity'>;

export class Segmenter {
  readonly #baseMs: number;
  #number: number;
  #maxLengthMs: number;
  #firstRecord: Buffer | null;
  #hasFormats: boolean;
  #clock: EncoderClock | null = null;
  /** The latest headers, which count from the next segment on. */
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

  /** Whether the stream has something to show: a key frame, or sound without pictures. */
  get hasStarted(): boolean {
    return this.#clock !== null;
  }

  /** How often the encoder's clock has jumped. */
  get jumps(): number {
    return this.#clock?.jumps ?? 0;
  }

  /** The media that is being published. */
  get tracks(): Tracks {
    return this.#builder?.tracks ?? { video: this.#video, audio: this.#audio };
  }

  /** The segment that is being received; its parts are those that are complete. */
  get open(): OpenSegment | null {
    return this.#builder;
  }

  /** From now on no segment is longer. */
  limit(maxLengthMs: number): void {
    this.#maxLengthMs = maxLengthMs;
  }

  /** Takes a message; returns the segments that end with it. @throws IngestError */
  take({ type, timestamp, payload }: RtmpMessage): Segment[] {
    if (type === messageType.audio) return this.#takeSound(timestamp, payload);
    if (type === messageType.video) return this.#takePicture(timestamp, payload);
    return [];
  }

  /**
   * The pictures since the call before. The latest one stays, unless all are asked for: it may yet
   * begin a segment.
   */
  takePictures({ all = false } = {}): SegmentPicture[] {
    return this.#pictures.splice(0, this.#pictures.length - (all ? 0 : 1));
  }

  /** The last segment of a connection that is over; null when nothing waits. */
  finish(): Segment | null {
    const builder = this.#builder;
    if (builder === null) return null;
    return this.#cut(builder, (builder.lastMs ?? builder.startMs) + this.#frameMs);
  }

  #takePicture(timestamp: number, payload: Buffer): Segment[] {
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

  /** Milliseconds since the stream began; later than the picture before. */
  #pictureTime(timestamp: number): number {
    this.#clock ??= new EncoderClock(timestamp, this.#baseMs);
    const toldMs = this.#clock.timeOf('video', timestamp);
    const lastMs = this.#lastPictureMs;
    const atMs = lastMs === null ? toldMs : Math.max(toldMs, lastMs + 1);
    if (lastMs !== null) this.#frameMs = atMs - lastMs;
    this.#lastPictureMs = atMs;
    return atMs;
  }

  #addPicture(tag: VideoTag, atMs: number): Segment[] {
    const ended: Segment[] = [];
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

  /** Whether the segment ends at a key frame. */
  #isEnd(builder: SegmentBuilder, atMs: number): boolean {
    const isLong = atMs - builder.startMs >= segmentMs - toleranceMs;
    const isSame = sameTracks(builder.tracks, { video: this.#video, audio: this.#audio });
    return isLong || !isSame || !builder.isIndependent || this.jumps !== this.#knownJumps;
  }

  /**
   * The recording is one file with one header, so pictures of a further format bring their own. Those
   * of the first one too, from then on.
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

  #takeSound(timestamp: number, payload: Buffer): Segment[] {
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

  /** Sound before the first picture is left out, unless there will be no picture. */
  #isSoundWanted(timestamp: number): boolean {
    if (this.#clock !== null) return true;
    if (this.#video !== null) return false;
    this.#firstSoundAt ??= timestamp;
    return ((timestamp - this.#firstSoundAt) | 0) >= soundAloneAfterMs;
  }

  #addSound(data: Buffer, atMs: number, { sampleRate }: AacHeader): Segment[] {
    const frameMs = (samplesPerFrame * 1_000) / sampleRate;
    const ended: Segment[] = [];
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
    // Some encoders send this header behind the first pictures.
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

  /** Ends the segment, whose last picture is shown until `endMs`. */
  #cut(builder: SegmentBuilder, endMs: number): Segment {
    const segment = builder.build(endMs);
    this.#isFirst = false;
    this.#number += 1;
    return segment;
  }
}
