/**
 * Cuts what one connection publishes into segments. H.264 and AAC are passed on as they are: FLV and MP4
 * hold the same packets.
 *
 * The times of a stream go on from connection to connection: each begins where the one before ended.
 */
import type { RtmpMessage } from '../rtmp/messages.ts';
import { messageType } from '../rtmp/messages.ts';
import { readAacHeader, samplesPerFrame, type AacHeader } from './aac-header.ts';
import { readH264Header, type H264Header } from './h264-header.ts';
import { IngestError } from './ingest-error.ts';
import type { Tracks } from './init-segment.ts';
import { mediaSegment, type Sample } from './media-segment.ts';
import { readAudioTag, readVideoTag } from './flv-tags.ts';

export type Segment = {
  readonly bytes: Buffer;
  readonly durationMs: number;
  /** When its first picture arrived. */
  readonly startedAt: Date;
};

/** A segment ends at the first key frame after so long. */
const segmentMs = 2_000;
/** Encoders place key frames by their own clocks, so a little less counts as well. */
const toleranceMs = 100;
const maxSegmentMs = 12_000;
const maxSegmentBytes = 48 * 1024 * 1024;
/** How far sound may be from where its count says, before the gap is taken over. */
const maxAudioDriftSeconds = 0.1;
/** A clock that goes back further than this cannot be followed. */
const maxBackwardsMs = 1_000;
const usualFrameMs = 33;
const unitsPerMs = 90;

type Picture = { data: Buffer; isKey: boolean; offsetMs: number; atMs: number };

export class Segmenter {
  readonly #baseMs: number;
  #number: number;
  #video: H264Header | null = null;
  #audio: AacHeader | null = null;
  #tracks: Tracks | null = null;
  /** The timestamp of the first key frame of this connection. */
  #origin: number | null = null;
  #pictures: Picture[] = [];
  #sounds: Sample[] = [];
  #soundStart = 0;
  /** Where the next frame of sound belongs, in samples since the start of the stream. */
  #nextSound: number | null = null;
  #bytes = 0;
  #startedAt = new Date();

  /**
   * @param baseMs length of what earlier connections have published
   * @param number of the first segment
   */
  constructor(baseMs: number, number: number) {
    this.#baseMs = baseMs;
    this.#number = number;
  }

  /** Whether there was a key frame: the stream has something to show. */
  get hasStarted(): boolean {
    return this.#origin !== null;
  }

  /** What the stream consists of; known from the first segment on. */
  get tracks(): Tracks {
    if (this.#tracks === null) throw new Error('There is no segment yet.');
    return this.#tracks;
  }

  /** Takes a message; returns the segment that ends with it, if one does. @throws IngestError */
  take(message: RtmpMessage): Segment | null {
    if (message.type === messageType.audio) this.#takeSound(message);
    return message.type === messageType.video ? this.#takePicture(message) : null;
  }

  /** The last segment of a connection that is over; null when nothing waits. */
  finish(): Segment | null {
    const last = this.#pictures.at(-1);
    if (last === undefined) return null;
    const before = this.#pictures.at(-2);
    const frameMs = before === undefined ? usualFrameMs : last.atMs - before.atMs;
    return this.#cut(last.atMs + frameMs);
  }

  #takePicture({ timestamp, payload }: RtmpMessage): Segment | null {
    const tag = readVideoTag(payload);
    if (tag === null) return null;
    if (tag.isHeader) {
      this.#takeVideoHeader(tag.data);
      return null;
    }
    if (this.#video === null) throw new IngestError('pictures come before their header');
    if (this.#origin === null) {
      if (!tag.isKey) return null;
      this.#origin = timestamp;
    }
    const atMs = this.#timeOf(timestamp, this.#origin);
    const isEnd = tag.isKey && atMs - (this.#pictures[0]?.atMs ?? atMs) >= segmentMs - toleranceMs;
    const segment = isEnd ? this.#cut(atMs) : null;
    if (this.#pictures.length === 0) this.#startedAt = new Date();
    this.#pictures.push({ data: tag.data, isKey: tag.isKey, offsetMs: tag.offsetMs, atMs });
    this.#countBytes(tag.data);
    if (atMs - (this.#pictures[0]?.atMs ?? atMs) > maxSegmentMs) {
      throw new IngestError('key frames are more than ten seconds apart');
    }
    return segment;
  }

  /** Milliseconds since the stream began; later than the picture before. */
  #timeOf(timestamp: number, origin: number): number {
    // The difference of two counters of 32 bits, which may have begun again.
    const atMs = this.#baseMs + ((timestamp - origin) | 0);
    const last = this.#pictures.at(-1)?.atMs;
    if (last === undefined || atMs > last) return atMs;
    if (last - atMs > maxBackwardsMs) throw new IngestError('the timestamps go backwards');
    return last + 1;
  }

  #takeVideoHeader(record: Buffer): void {
    if (this.#video?.record.equals(record) === true) return;
    if (this.hasStarted) throw new IngestError('the pictures have changed their format');
    this.#video = readH264Header(record);
  }

  #takeSound({ timestamp, payload }: RtmpMessage): void {
    const tag = readAudioTag(payload);
    if (tag === null) return;
    if (tag.isHeader) return this.#takeAudioHeader(tag.data);
    const isWanted = this.#tracks === null || this.#tracks.audio !== null;
    if (this.#audio === null || this.#origin === null || !isWanted) return;
    const sinceOrigin = (timestamp - this.#origin) | 0;
    if (sinceOrigin < 0) return;
    this.#addSound(tag.data, this.#baseMs + sinceOrigin, this.#audio);
  }

  #addSound(data: Buffer, atMs: number, { sampleRate }: AacHeader): void {
    const told = Math.round((atMs * sampleRate) / 1_000);
    const counted = this.#nextSound ?? told;
    if (told < counted - sampleRate) return;
    const hasGap = told - counted > maxAudioDriftSeconds * sampleRate;
    const start = hasGap ? told : counted;
    const last = this.#sounds.at(-1);
    if (last === undefined) this.#soundStart = start;
    else if (hasGap) {
      const duration = last.duration + start - counted;
      this.#sounds[this.#sounds.length - 1] = { ...last, duration };
    }
    this.#sounds.push({ data, duration: samplesPerFrame, isKey: true, offset: 0 });
    this.#nextSound = start + samplesPerFrame;
    this.#countBytes(data);
  }

  #takeAudioHeader(config: Buffer): void {
    if (this.#audio?.config.equals(config) === true) return;
    if (this.#audio !== null && this.hasStarted) {
      throw new IngestError('the sound has changed its format');
    }
    this.#audio = readAacHeader(config);
  }

  #countBytes(data: Buffer): void {
    this.#bytes += data.length;
    if (this.#bytes > maxSegmentBytes) throw new IngestError('a segment is too large');
  }

  /** Ends the segment, whose last picture is shown until `endMs`. */
  #cut(endMs: number): Segment | null {
    const [first] = this.#pictures;
    if (first === undefined || this.#video === null) return null;
    this.#tracks ??= { video: this.#video, audio: this.#audio };
    const pictures = this.#pictures.map(({ data, isKey, offsetMs, atMs }, index): Sample => {
      const nextMs = this.#pictures[index + 1]?.atMs ?? endMs;
      const duration = (nextMs - atMs) * unitsPerMs;
      return { data, duration, isKey, offset: offsetMs * unitsPerMs };
    });
    const video = { start: first.atMs * unitsPerMs, samples: pictures };
    const audio = { start: this.#soundStart, samples: this.#sounds };
    const bytes = mediaSegment(this.#number, video, this.#tracks.audio === null ? null : audio);
    const segment = { bytes, durationMs: endMs - first.atMs, startedAt: this.#startedAt };
    this.#number += 1;
    this.#pictures = [];
    this.#sounds = [];
    this.#bytes = 0;
    return segment;
  }
}
