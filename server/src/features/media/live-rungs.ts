/**
 * The lower renditions of a broadcast, made in a media child while it goes on: pictures go in as they
 * arrive, and the segments of each rung come out, cut where the caller's segments begin.
 */
import { Type, type Static } from 'typebox';
import { Value } from 'typebox/value';
import { awaitedLater } from '../../platform/awaited-later.ts';
import { runInChild, type MediaTaskOptions } from './child-process.ts';
import { planLadder, type VideoRung } from './ladder.ts';

/** Names of the decoders by the codes of MP4. */
export type LiveCodec = 'avc1' | 'hvc1' | 'av01';

/** The format of the pictures from here on, and the rungs to make of them. */
export type LiveFormat = {
  readonly codec: LiveCodec;
  /** The decoder configuration record of MP4. */
  readonly record: Buffer;
  readonly rungs: readonly VideoRung[];
};

export type LivePicture = {
  /** The segment that it belongs to. A higher number than before begins a segment with it. */
  readonly number: number;
  readonly isKey: boolean;
  /** When it is shown, in milliseconds of the broadcast. */
  readonly shownMs: number;
  readonly data: Buffer;
};

const RungSegmentSchema = Type.Object({
  type: Type.Literal('segment'),
  rung: Type.String({ pattern: '^[0-9]{1,5}$' }),
  number: Type.Integer({ minimum: 0 }),
  /** The AVCDecoderConfigurationRecord in base64. */
  record: Type.String({ minLength: 1, maxLength: 10_000 }),
  /** Times at which the pictures are shown, in milliseconds, and at last the end of the segment. */
  times: Type.Array(Type.Integer({ minimum: 0 }), { minItems: 2, maxItems: 10_000 }),
  /** Sizes of the pictures in bytes. The first one is a key frame, and no other is. */
  sizes: Type.Array(Type.Integer({ minimum: 1 }), { minItems: 1, maxItems: 10_000 }),
  /** The pictures one after the other in base64, as MP4 stores them. */
  data: Type.String({ maxLength: 64 * 1024 * 1024 }),
});

const LiveAnswerSchema = Type.Union([
  Type.Object({ type: Type.Literal('ready') }),
  /** So many pictures have been taken since the start. */
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
  /** The moment at which the segment ends, in milliseconds of the broadcast. */
  readonly endMs: number;
  readonly pictures: readonly { readonly shownMs: number; readonly data: Buffer }[];
};

/** No rung is closer to the size of the top, which every browser plays where it is H.264. */
const MAX_SHARE_OF_TOP = 0.8;
const HIGHEST_RATE = 30;

/** The rungs below a top of this size, largest first. A top that few browsers play gets all of them. */
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
  /** An empty folder, which the child may use. */
  readonly workDir: Promise<string>;
  readonly deadlineMs: number;
  readonly onSegment: (segment: RungSegment) => void;
};

/** One child with its pictures. Once `ended` has settled nothing more happens. */
export class LiveRungs {
  #say: ((order: LiveOrder) => void) | null = null;
  /** Orders that wait for the child to have started. */
  #waiting: LiveOrder[] = [];
  /** When the pictures were sent that have not been taken, and their sizes. */
  readonly #untaken: { atMs: number; bytes: number }[] = [];
  #untakenBytes = 0;
  #taken = 0;
  #isReady = false;
  readonly #startedAtMs = performance.now();
  readonly #onSegment: LiveRungsOptions['onSegment'];

  /** Rejects with a MediaError when the child dies or is killed; resolves after `end`. */
  readonly ended: Promise<void>;

  constructor({ workDir, onSegment, ...limits }: LiveRungsOptions) {
    this.#onSegment = onSegment;
    const talk = {
      opened: (say: (order: object) => void) => (this.#say = say),
      heard: (message: unknown) => this.#hear(message),
    };
    // A broadcast may pause, so silence is no standstill.
    const options = { ...limits, stallMs: Infinity, talk };
    const running = workDir.then(async (outputDir) => {
      await runInChild({ type: 'live', outputDir }, Type.Object({}), outputDir, options);
    });
    this.ended = awaitedLater(running);
  }

  /** How long the oldest picture has waited that the child has not taken, in milliseconds. */
  get lagMs(): number {
    const [oldest] = this.#untaken;
    return oldest === undefined ? 0 : performance.now() - oldest.atMs;
  }

  /** Bytes of pictures that the child has not taken. */
  get untakenBytes(): number {
    return this.#untakenBytes;
  }

  /** How long the child has been starting, in milliseconds; null once it runs. */
  get startingMs(): number | null {
    return this.#isReady ? null : performance.now() - this.#startedAtMs;
  }

  /** The pictures from here on, the first of which is a key frame, are of this format. */
  setFormat({ codec, record, rungs }: LiveFormat): void {
    this.#order({ type: 'format', codec, record: record.toString('base64'), rungs });
  }

  take({ number, isKey, shownMs, data }: LivePicture): void {
    this.#untaken.push({ atMs: performance.now(), bytes: data.length });
    this.#untakenBytes += data.length;
    this.#order({ type: 'picture', number, isKey, shownMs, data: data.toString('base64') });
  }

  /** No picture follows: the last segment ends here. */
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
    // Pictures that waited for the start do not mean that the machine is too slow.
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
