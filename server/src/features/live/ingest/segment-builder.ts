/** The segment that is being received: pictures and sound in the order of their arrival. */
import { samplesPerFrame, type AacHeader } from './aac-header.ts';
import { IngestError } from './ingest-error.ts';
import type { Tracks } from './init-segment.ts';
import { mediaSegment, type Sample, type TrackRun } from './media-segment.ts';

export type Segment = {
  readonly bytes: Buffer;
  readonly durationMs: number;
  /** When its first picture arrived. */
  readonly startedAt: Date;
  readonly tracks: Tracks;
  /** Whether it does not continue the one before it: the encoder's clock has jumped, or the format changed. */
  readonly isDiscontinuity: boolean;
  /** The picture that it begins with; null where that can't be decoded alone. */
  readonly keyFrame: Buffer | null;
  /** Its sound, which its rungs have as well. */
  readonly sound: TrackRun | null;
};

export type Picture = { data: Buffer; isKey: boolean; offsetMs: number; atMs: number };

type SegmentStart = {
  readonly tracks: Tracks;
  readonly startMs: number;
  readonly isDiscontinuity: boolean;
  /** Where the next frame of sound belongs, in samples; null where the sound begins. */
  readonly nextSound: number | null;
};

const maxSegmentBytes = 48 * 1024 * 1024;
/** How far sound may be from where its count says, before the gap is taken over. */
const maxAudioDriftSeconds = 0.1;
const unitsPerMs = 90;

export class SegmentBuilder {
  readonly startMs: number;
  #tracks: Tracks;
  readonly #isDiscontinuity: boolean;
  readonly #startedAt = new Date();
  readonly #pictures: Picture[] = [];
  #sounds: Sample[] = [];
  #soundStart = 0;
  #nextSound: number | null;
  #bytes = 0;

  constructor({ tracks, startMs, isDiscontinuity, nextSound }: SegmentStart) {
    this.#tracks = tracks;
    this.startMs = startMs;
    this.#isDiscontinuity = isDiscontinuity;
    this.#nextSound = nextSound;
  }

  get tracks(): Tracks {
    return this.#tracks;
  }

  /** Takes over the header of a sound that begins during the segment. */
  adoptSound(audio: AacHeader): void {
    this.#tracks = { ...this.#tracks, audio: this.#tracks.audio ?? audio };
  }

  /** Whether it can be decoded without the segment before it. */
  get isIndependent(): boolean {
    return this.#pictures[0]?.isKey ?? true;
  }

  /** When the latest picture begins, or the latest sound where there are no pictures. */
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

  /** @throws IngestError when the segment is too large */
  addPicture(picture: Picture): void {
    this.#pictures.push(picture);
    this.#countBytes(picture.data);
  }

  /** Takes the latest picture out again; null where it is the only one. */
  takeLast(): Picture | null {
    return this.#pictures.length < 2 ? null : (this.#pictures.pop() ?? null);
  }

  /** @throws IngestError when the segment is too large */
  addSound(data: Buffer, atMs: number): void {
    const { audio } = this.tracks;
    if (audio === null) return;
    const told = Math.round((atMs * audio.sampleRate) / 1_000);
    const counted = this.#nextSound ?? told;
    const maxDrift = maxAudioDriftSeconds * audio.sampleRate;
    // An encoder that sends more sound than time passes would push it ever further behind the picture.
    if (counted - told > maxDrift) return;
    const hasGap = told - counted > maxDrift;
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

  /** @param endMs until when the last picture is shown */
  build(number: number, endMs: number): Segment {
    const pictures = this.#pictures.map(({ data, isKey, offsetMs, atMs }, index): Sample => {
      const nextMs = this.#pictures[index + 1]?.atMs ?? endMs;
      const duration = (nextMs - atMs) * unitsPerMs;
      return { data, duration, isKey, offset: offsetMs * unitsPerMs };
    });
    const { video, audio } = this.tracks;
    const sound = audio === null ? null : { start: this.#soundStart, samples: this.#sounds };
    const bytes = mediaSegment(number, {
      video: video === null ? null : { start: this.startMs * unitsPerMs, samples: pictures },
      audio: sound,
    });
    return {
      bytes,
      durationMs: endMs - this.startMs,
      startedAt: this.#startedAt,
      tracks: this.tracks,
      isDiscontinuity: this.#isDiscontinuity,
      keyFrame: this.#pictures[0]?.isKey === true ? this.#pictures[0].data : null,
      sound,
    };
  }

  #countBytes(data: Buffer): void {
    this.#bytes += data.length;
    if (this.#bytes > maxSegmentBytes) throw new IngestError('a segment is too large');
  }
}
