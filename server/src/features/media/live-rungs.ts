/**
 * Produces the lower renditions of a live broadcast in a media child: pictures go in as they
 * arrive, and the segments of each rung come out, aligned with the caller's segments.
 */
import { Type, type Static } from 'typebox';
import { Value } from 'typebox/value';
import { awaitedLater } from '../../platform/async/awaited-later.ts';
import { runInChild, type MediaTaskOptions } from './child-process.ts';
import { planLadder, type VideoRung } from './ladder.ts';

/** Codecs by their MP4 codes. */
export type LiveCodec = 'avc1' | 'hvc1' | 'av01';

/** The format of the following pictures, and the rungs to create. */
export type LiveFormat = {
  readonly codec: LiveCodec;
  /** MP4 decoder configuration record. */
  readonly record: Buffer;
  readonly rungs: readonly VideoRung[];
};

export type LivePicture = {
  /** The segment that the picture belongs to. A higher number starts a new segment. */
  readonly number: number;
  readonly isKey: boolean;
  /** Presentation time in milliseconds since the start of the broadcast. */
  readonly shownMs: number;
  readonly data: Buffer;
};

const RungSegmentSchema = Type.Object({
  type: Type.Literal('segment'),
  rung: Type.String({ pattern: '^[0-9]{1,5}$' }),
  number: Type.Integer({ minimum: 0 }),
  /** The AVCDecoderConfigurationRecord in base64. */
  record: Type.String({ minLength: 1, maxLength: 10_000 }),
  /** Presentation times of the pictures in milliseconds, followed by the end of the segment. */
  times: Type.Array(Type.Integer({ minimum: 0 }), { minItems: 2, maxItems: 10_000 }),
  /** Sizes of the pictures in bytes. Only the first is a key frame. */
  sizes: Type.Array(Type.Integer({ minimum: 1 }), { minItems: 1, maxItems: 10_000 }),
  /** The concatenated pictures in base64, in MP4 format. */
  data: Type.String({ maxLength: 64 * 1024 * 1024 }),
});

const LiveAnswerSchema = Type.Union([
  Type.Object({ type: Type.Literal('ready') }),
  /** Number of pictures processed since the start. */
  Type.Object({ type: Type.Literal('taken'), count: Type.Integer({ minimum: 0 }) }),
  RungSegmentSchema,
]);

/** Messages from the child. */
export type LiveAnswer = Static<typeof LiveAnswerSchema>;
export type RungSegmentMessage = Static<typeof RungSegmentSchema>;

/** Messages to the child, with bytes in base64. */
export type LiveOrder =
  | { type: 'format'; codec: LiveCodec; record: string; rungs: readonly VideoRung[] }
  | { type: 'picture'; number: number; isKey: boolean; shownMs: number; data: string }
  | { type: 'end'; endMs: number };

export type RungSegment = {
  readonly rung: string;
  readonly number: number;
  readonly record: Buffer;
  /** End of the segment in milliseconds since the start of the broadcast. */
  readonly endMs: number;
  readonly pictures: readonly { readonly shownMs: number; readonly data: Buffer }[];
};

/** Rungs closer to the top's size are skipped, since every browser plays the top if it is H.264. */
const MAX_SHARE_OF_TOP = 0.8;
const HIGHEST_RATE = 30;

/**
 * The rungs below a top rendition of this size, largest first. If few browsers play the top's
 * codec, all rungs are kept.
 */
export function liveRungs(
  top: { codec: LiveCodec; width: number; height: number },
  steps: readonly string[],
): VideoRung[] {
  const { width, height } = top;
  const { first, remaining } = planLadder({ width, height, maxFrameRate: HIGHEST_RATE }, { steps });
  const rungs = [first, ...remaining].filter((rung) => rung.kind === 'video');
  const limit = Math.min(width, height) * (top.codec === 'avc1' ? MAX_SHARE_OF_TOP : 1);
  return rungs
    .filter((rung) => Math.min(rung.width, rung.height) <= limit)
    .toSorted((one, other) => other.width - one.width);
}

export type LiveRungsOptions = Pick<
  MediaTaskOptions,
  'memoryLimitBytes' | 'niceness' | 'signal'
> & {
  /** An empty folder for the child. */
  readonly workDir: Promise<string>;
  readonly deadlineMs: number;
  readonly onSegment: (segment: RungSegment) => void;
};

/** One child and the pictures sent to it. Nothing more happens once `ended` has settled. */
export class LiveRungs {
  #say: ((order: LiveOrder) => void) | null = null;
  /** Messages queued until the child has started. */
  #waiting: LiveOrder[] = [];
  /** Send times and sizes of the pictures that the child has not taken yet. */
  readonly #untaken: { atMs: number; bytes: number }[] = [];
  #untakenBytes = 0;
  #taken = 0;
  #isReady = false;
  readonly #startedAtMs = performance.now();
  readonly #onSegment: LiveRungsOptions['onSegment'];

  /** Rejects with a MediaError if the child dies or is killed; resolves after `end`. */
  readonly ended: Promise<void>;

  constructor({ workDir, onSegment, ...limits }: LiveRungsOptions) {
    this.#onSegment = onSegment;
    const talk = {
      opened: (say: (order: object) => void) => (this.#say = say),
      heard: (message: unknown) => this.#hear(message),
    };
    // A broadcast may pause, so silence is not a stall.
    const options = { ...limits, stallMs: Infinity, talk };
    const running = workDir.then(async (outputDir) => {
      await runInChild({ type: 'live', outputDir }, Type.Object({}), outputDir, options);
    });
    this.ended = awaitedLater(running);
  }

  /** Waiting time of the oldest picture not yet taken, in milliseconds. */
  get lagMs(): number {
    const [oldest] = this.#untaken;
    return oldest === undefined ? 0 : performance.now() - oldest.atMs;
  }

  /** Total size of the pictures not yet taken. */
  get untakenBytes(): number {
    return this.#untakenBytes;
  }

  /** Time since the child was started, in milliseconds, or null once it is running. */
  get startingMs(): number | null {
    return this.#isReady ? null : performance.now() - this.#startedAtMs;
  }

  /** Sets the format of the following pictures, the first of which must be a key frame. */
  setFormat({ codec, record, rungs }: LiveFormat): void {
    this.#order({ type: 'format', codec, record: record.toString('base64'), rungs });
  }

  take({ number, isKey, shownMs, data }: LivePicture): void {
    this.#untaken.push({ atMs: performance.now(), bytes: data.length });
    this.#untakenBytes += data.length;
    this.#order({ type: 'picture', number, isKey, shownMs, data: data.toString('base64') });
  }

  /** Ends the last segment. No picture follows. */
  end(endMs: number): void {
    this.#order({ type: 'end', endMs });
  }

  #order(order: LiveOrder): void {
    if (this.#isReady) this.#say?.(order);
    else this.#waiting.push(order);
  }

  #hear(message: unknown): void {
    if (!Value.Check(LiveAnswerSchema, message)) return;
    if (message.type === 'ready') this.#begin();
    else if (message.type === 'taken') this.#noteTaken(message.count);
    else if (message.sizes.length + 1 === message.times.length)
      this.#onSegment(readSegment(message));
  }

  #begin(): void {
    this.#isReady = true;
    // A backlog that built up while the child was starting does not mean that the machine is too
    // slow.
    const nowMs = performance.now();
    for (const picture of this.#untaken) picture.atMs = nowMs;
    for (const order of this.#waiting.splice(0)) this.#say?.(order);
  }

  #noteTaken(count: number): void {
    const done = this.#untaken.splice(0, Math.max(0, count - this.#taken));
    this.#taken += done.length;
    for (const { bytes } of done) this.#untakenBytes -= bytes;
  }
}

function readSegment({
  rung,
  number,
  record,
  times,
  sizes,
  data,
}: RungSegmentMessage): RungSegment {
  const bytes = Buffer.from(data, 'base64');
  let at = 0;
  const pictures = sizes.map((size, index) => {
    const picture = { shownMs: times[index] ?? 0, data: bytes.subarray(at, at + size) };
    at += size;
    return picture;
  });
  return {
    rung,
    number,
    record: Buffer.from(record, 'base64'),
    endMs: times.at(-1) ?? 0,
    pictures,
  };
}
