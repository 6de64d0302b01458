/**
 * Measures the health of a publisher: bit rate, frame rate, and problems that its operator should
 * fix.
 */
import { messageType, type RtmpMessage } from '../rtmp/messages.ts';
import { readVideoTag } from './flv-tags.ts';
import type { RungState } from '../ladder/live-ladder.ts';
import type { Tracks } from './init-segment.ts';

export const healthWarnings = {
  KEY_FRAMES_FAR_APART:
    'Key frames are more than four seconds apart. Set the keyframe interval to 2 seconds to reduce latency.',
  CLOCK_JUMPED: 'The timestamps of the encoder have jumped. Viewers see a cut at that point.',
  BEHIND:
    'Media arrives more slowly than real time: the connection of the encoder is too slow for its bit rate.',
  NO_SOUND: 'There is no audio.',
  NO_PICTURE: 'There is no video.',
  RENDITIONS_DROPPED:
    'The server is too slow to make all renditions, so some are dropped. Viewers get the others.',
} as const;

export type HealthWarning = keyof typeof healthWarnings;

export type StreamHealth = {
  /** Bits per second of audio and video over the last five seconds. */
  readonly bitrate: number;
  /** Frames per second over the last five seconds. */
  readonly frameRate: number;
  readonly keyFrameInterval: number | null;
  readonly clockJumps: number;
  readonly warnings: readonly HealthWarning[];
  /** The smaller renditions. Absent in data stored by earlier versions. */
  readonly renditions?: readonly RungState[];
};

const windowSeconds = 5;
const maxKeyFrameIntervalMs = 4_000;
/** No encoder has a longer key frame interval; it indicates a clock jump. */
const maxPlausibleIntervalMs = 60_000;
/** Media that arrives more slowly than this share of real time falls behind. */
const slowestPace = 0.8;

type Bucket = { bytes: number; pictures: number; mediaMs: number };

export class StreamMeter {
  readonly #buckets: Bucket[] = [{ bytes: 0, pictures: 0, mediaMs: 0 }];
  #keyFrameAt: number | null = null;
  #keyFrameIntervalMs: number | null = null;
  #latestAt: number | null = null;

  /** @throws {IngestError} for tags of other codecs */
  take({ type, timestamp, payload }: RtmpMessage): void {
    const bucket = this.#buckets.at(-1);
    if (bucket === undefined) return;
    bucket.bytes += payload.length;
    const step = this.#latestAt === null ? 0 : (timestamp - this.#latestAt) | 0;
    if (step > 0 && step <= 1_000) bucket.mediaMs += step;
    this.#latestAt = timestamp;
    const tag = type === messageType.video ? readVideoTag(payload) : null;
    if (tag === null || tag.isHeader) return;
    bucket.pictures += 1;
    if (!tag.isKey) return;
    const intervalMs = this.#keyFrameAt === null ? 0 : (timestamp - this.#keyFrameAt) | 0;
    const isPlausible = intervalMs > 0 && intervalMs <= maxPlausibleIntervalMs;
    if (isPlausible) this.#keyFrameIntervalMs = intervalMs;
    this.#keyFrameAt = timestamp;
  }

  /**
   * Must be called once per second.
   * @param elapsedSeconds since the previous call
   */
  read(tracks: Tracks, clockJumps: number, renditions: readonly RungState[] = []): StreamHealth {
    const sum = (of: (bucket: Bucket) => number) =>
      this.#buckets.reduce((total, bucket) => total + of(bucket), 0) / this.#buckets.length;
    const isDropped = renditions.some(({ state }) => state === 'dropped');
    const health = {
      bitrate: Math.round(sum(({ bytes }) => bytes) * 8),
      frameRate: Math.round(sum(({ pictures }) => pictures) * 10) / 10,
      keyFrameInterval: this.#keyFrameIntervalMs === null ? null : this.#keyFrameIntervalMs / 1_000,
      clockJumps,
      warnings: [
        ...this.#warnings(
          tracks,
          clockJumps,
          sum(({ mediaMs }) => mediaMs),
        ),
        ...(isDropped ? (['RENDITIONS_DROPPED'] as const) : []),
      ],
      renditions,
    };
    this.#buckets.push({ bytes: 0, pictures: 0, mediaMs: 0 });
    if (this.#buckets.length > windowSeconds) this.#buckets.shift();
    return health;
  }

  #warnings({ video, audio }: Tracks, clockJumps: number, mediaMs: number): HealthWarning[] {
    const isFull = this.#buckets.length === windowSeconds;
    const found: [HealthWarning, boolean][] = [
      ['KEY_FRAMES_FAR_APART', (this.#keyFrameIntervalMs ?? 0) > maxKeyFrameIntervalMs],
      ['CLOCK_JUMPED', clockJumps > 0],
      ['BEHIND', isFull && mediaMs < slowestPace * 1_000],
      ['NO_SOUND', video !== null && audio === null],
      ['NO_PICTURE', video === null && audio !== null],
    ];
    return found.filter(([, isSo]) => isSo).map(([warning]) => warning);
  }
}
