/**
 * The segment being received: pictures and audio in order of arrival.
 *
 * 1. A segment is the concatenation of its parts, each of which is an MP4 fragment.
 * 2. A part ends if another picture like the latest would make it longer than the part target. Only
 *    the last part of a segment is much shorter, and none is longer unless a single picture is.
 * 3. The latest picture is not yet in a part: its duration is known only when the next one arrives.
 */
import { samplesPerFrame, type AacHeader } from './aac-header.ts';
import { IngestError } from './ingest-error.ts';
import type { Tracks } from './init-segment.ts';
import { mediaSegment, type MediaSample, type TrackRun } from './media-segment.ts';

type Part = {
  readonly bytes: Buffer;
  readonly durationMs: number;
  /** Whether it starts with a key frame or contains only audio. */
  readonly isIndependent: boolean;
};

export type LiveSegment = {
  readonly bytes: Buffer;
  readonly parts: readonly Part[];
  readonly durationMs: number;
  /** Arrival time of its first picture. */
  readonly startedAt: Date;
  readonly tracks: Tracks;
  /** The audio of all its parts. */
  readonly sound: TrackRun | null;
  /**
   * Whether it does not continue the previous segment: the encoder's clock has jumped, or the
   * format has changed.
   */
  readonly isDiscontinuity: boolean;
  /** Its first picture, or null if that cannot be decoded on its own. */
  readonly keyFrame: Buffer | null;
};

export type Picture = { data: Buffer; isKey: boolean; offsetMs: number; atMs: number };

type SegmentStart = {
  readonly tracks: Tracks;
  readonly startMs: number;
  readonly isDiscontinuity: boolean;
  /** Position of the next audio frame in samples; null if the audio starts here. */
  readonly nextSound: number | null;
  /** Audio that follows the previous segment. */
  readonly sounds?: readonly MediaSample[];
  /** Its number in the file formed by all segments. */
  readonly number: number;
  /** Maximum part length; Infinity for segments of one part. */
  readonly partMs: number;
};

const maxSegmentBytes = 48 * 1024 * 1024;
/**
 * Maximum difference between the counted position and the timestamp of audio before the gap is
 * adopted.
 */
const maxAudioDriftSeconds = 0.1;
const unitsPerMs = 90;
/** Reserved fragment numbers per segment, more than any segment has parts. */
const maxParts = 1_000;

export class SegmentBuilder {
  readonly startMs: number;
  #tracks: Tracks;
  readonly isDiscontinuity: boolean;
  readonly startedAt = new Date();
  readonly #number: number;
  readonly #partMs: number;
  readonly #parts: Part[] = [];
  #partStartMs: number;
  /** Pictures and audio of the part being received. */
  #pictures: Picture[] = [];
  #sounds: MediaSample[] = [];
  #first: Picture | null = null;
  readonly #soundsOfParts: { start: number; samples: readonly MediaSample[] }[] = [];
  #pictureCount = 0;
  #soundStart = 0;
  #nextSound: number | null;
  #bytes = 0;

  constructor(start: SegmentStart) {
    const { tracks, startMs, isDiscontinuity, nextSound, sounds = [], number, partMs } = start;
    this.#tracks = tracks;
    this.startMs = startMs;
    this.#partStartMs = startMs;
    this.isDiscontinuity = isDiscontinuity;
    this.#nextSound = nextSound;
    this.#sounds = [...sounds];
    if (nextSound !== null) this.#soundStart = nextSound - lengthOf(sounds);
    this.#number = number;
    this.#partMs = partMs;
  }

  get tracks(): Tracks {
    return this.#tracks;
  }

  adoptSound(audio: AacHeader): void {
    this.#tracks = { ...this.#tracks, audio: this.#tracks.audio ?? audio };
  }

  /** Whether it can be decoded without the previous segment. */
  get isIndependent(): boolean {
    return this.#first?.isKey ?? true;
  }

  get parts(): readonly Part[] {
    return this.#parts;
  }

  /** Audio received after the last picture of a segment that was cut before it. */
  get leftSounds(): readonly MediaSample[] {
    return this.#sounds;
  }

  /** Start of the latest picture, or of the latest audio if there are no pictures. */
  get lastMs(): number | null {
    const picture = this.#pictures.at(-1);
    if (picture !== undefined) return picture.atMs;
    const { audio } = this.tracks;
    if (audio === null || this.#nextSound === null || this.#sounds.length === 0) return null;
    return Math.round(((this.#nextSound - samplesPerFrame) * 1_000) / audio.sampleRate);
  }

  get nextSound(): number | null {
    return this.#nextSound;
  }

  /** @throws {IngestError} if the segment is too large */
  addPicture(picture: Picture): void {
    this.#endPartBefore(picture.atMs);
    this.#first ??= picture;
    this.#pictureCount += 1;
    this.#pictures.push(picture);
    this.#countBytes(picture.data);
  }

  /** Ends the part if the next picture would make it too long. */
  #endPartBefore(atMs: number): void {
    const last = this.#pictures.at(-1);
    if (last === undefined) return;
    const isTooLong = atMs - this.#partStartMs > this.#partMs;
    if (isTooLong && this.#pictures.length > 1) {
      this.#pictures.pop();
      this.#endPart(last.atMs);
      this.#pictures.push(last);
    }
    if (atMs - this.#partStartMs + (atMs - last.atMs) > this.#partMs) this.#endPart(atMs);
  }

  /** Removes and returns the latest picture, or null if it is the only one. */
  takeLast(): Picture | null {
    return this.#pictureCount < 2 ? null : (this.#pictures.pop() ?? null);
  }

  /** @throws {IngestError} if the segment is too large */
  addSound(data: Buffer, atMs: number): void {
    const { audio } = this.tracks;
    if (audio === null) return;
    const told = Math.round((atMs * audio.sampleRate) / 1_000);
    const counted = this.#nextSound ?? told;
    const maxDrift = maxAudioDriftSeconds * audio.sampleRate;
    // Otherwise, the audio of an encoder that sends it faster than real time would fall ever
    // further behind the video.
    if (counted - told > maxDrift) return;
    const hasGap = told - counted > maxDrift;
    const start = hasGap ? told : counted;
    if (this.#tracks.video === null) this.#endSoundPartBefore(atMs, audio);
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

  /** Without pictures, audio frames determine the parts. */
  #endSoundPartBefore(atMs: number, { sampleRate }: AacHeader): void {
    const frameMs = (samplesPerFrame * 1_000) / sampleRate;
    const isFull = atMs + frameMs - this.#partStartMs > this.#partMs;
    if (isFull && this.#sounds.length > 0) this.#endPart(Math.round(atMs));
  }

  /** @param endMs end of the last picture */
  #endPart(endMs: number): void {
    const pictures = this.#pictures.map(({ data, isKey, offsetMs, atMs }, index): MediaSample => {
      const nextMs = this.#pictures[index + 1]?.atMs ?? endMs;
      const duration = (nextMs - atMs) * unitsPerMs;
      return { data, duration, isKey, offset: offsetMs * unitsPerMs };
    });
    const { video, audio } = this.tracks;
    const bytes = mediaSegment(this.#number * maxParts + this.#parts.length, {
      video: video === null ? null : { start: this.#partStartMs * unitsPerMs, samples: pictures },
      audio: audio === null ? null : { start: this.#soundStart, samples: this.#sounds },
    });
    const isIndependent = video === null || this.#pictures[0]?.isKey === true;
    this.#parts.push({ bytes, durationMs: endMs - this.#partStartMs, isIndependent });
    if (this.#sounds.length > 0) {
      this.#soundsOfParts.push({ start: this.#soundStart, samples: this.#sounds });
    }
    this.#partStartMs = endMs;
    this.#pictures = [];
    this.#sounds = [];
  }

  /** @param toldEndMs end of the last picture */
  build(toldEndMs: number): LiveSegment {
    // Audio times may decrease slightly.
    const endMs = Math.max(toldEndMs, this.#partStartMs + (this.#tracks.video === null ? 1 : 0));
    const hasRest = this.#pictures.length > 0 || this.#tracks.video === null;
    if (hasRest || this.#parts.length === 0) this.#endPart(endMs);
    const { startMs, startedAt, tracks, isDiscontinuity } = this;
    return {
      bytes: Buffer.concat(this.#parts.map(({ bytes }) => bytes)),
      parts: this.#parts,
      durationMs: endMs - startMs,
      startedAt,
      tracks,
      sound: tracks.audio === null ? null : joined(this.#soundsOfParts),
      isDiscontinuity,
      keyFrame: this.#first?.isKey === true ? this.#first.data : null,
    };
  }

  #countBytes(data: Buffer): void {
    this.#bytes += data.length;
    if (this.#bytes > maxSegmentBytes) throw new IngestError('a segment is too large');
  }
}

function lengthOf(sounds: readonly MediaSample[]): number {
  return sounds.reduce((sum, { duration }) => sum + duration, 0);
}

/** Joins runs into one: the last sample before a gap lasts until the end of the gap. */
function joined(runs: readonly TrackRun[]): TrackRun {
  const samples: MediaSample[] = [];
  for (const [index, run] of runs.entries()) {
    const last = run.samples.at(-1);
    const next = runs[index + 1];
    if (last === undefined) continue;
    const gap = next === undefined ? 0 : next.start - run.start - lengthOf(run.samples);
    samples.push(...run.samples.slice(0, -1), { ...last, duration: last.duration + gap });
  }
  return { start: runs[0]?.start ?? 0, samples };
}
