/**
 * Remuxes a live broadcast from MPEG-TS to FLV in a media child. Packets are copied, and untrusted
 * bytes are only read inside the cage.
 */
import { Type, type Static } from 'typebox';
import { Value } from 'typebox/value';
import { awaitedLater } from '../../platform/async/awaited-later.ts';
import { runInChild, type MediaTaskOptions } from './child-process.ts';

const RemuxAnswerSchema = Type.Union([
  Type.Object({ type: Type.Literal('ready') }),
  /** The number of bytes read since the start. */
  Type.Object({ type: Type.Literal('taken'), bytes: Type.Integer({ minimum: 0 }) }),
  /** Bytes of FLV in base64. */
  Type.Object({ type: Type.Literal('flv'), data: Type.String({ maxLength: 1024 * 1024 }) }),
]);

/** Messages from the child. */
export type RemuxAnswer = Static<typeof RemuxAnswerSchema>;

/** Messages to the child, with bytes of MPEG-TS in base64. */
export type RemuxOrder = { type: 'bytes'; data: string } | { type: 'end' };

export type LiveRemuxOptions = Pick<
  MediaTaskOptions,
  'deadlineMs' | 'memoryLimitBytes' | 'signal'
> & {
  /** An empty folder, which the child may use. */
  readonly workDir: string;
  readonly onFlv: (bytes: Buffer) => void;
};

/** One child and its bytes. Nothing more happens once `ended` has settled. */
export class LiveRemux {
  readonly #onFlv: (bytes: Buffer) => void;
  #say: ((order: RemuxOrder) => void) | null = null;
  readonly #waiting: RemuxOrder[] = [];
  #isReady = false;
  #given = 0;
  #taken = 0;

  /** Rejects with a MediaError if the child dies or rejects the bytes; resolves after `end`. */
  readonly ended: Promise<void>;

  constructor({ workDir, onFlv, ...limits }: LiveRemuxOptions) {
    this.#onFlv = onFlv;
    const talk = {
      opened: (say: (order: object) => void) => (this.#say = say),
      heard: (message: unknown) => this.#hear(message),
    };
    // The caller decides how long silence may last.
    const options = { ...limits, stallMs: Infinity, talk };
    const task = { type: 'remux', outputDir: workDir } as const;
    const running = runInChild(task, Type.Object({}), workDir, options);
    this.ended = awaitedLater(running.then(() => undefined));
  }

  get untakenBytes(): number {
    return this.#given - this.#taken;
  }

  take(bytes: Buffer): void {
    this.#given += bytes.length;
    this.#order({ type: 'bytes', data: bytes.toString('base64') });
  }

  /** Signals the end of the input. */
  end(): void {
    this.#order({ type: 'end' });
  }

  #order(order: RemuxOrder): void {
    if (this.#isReady) this.#say?.(order);
    else this.#waiting.push(order);
  }

  #hear(message: unknown): void {
    if (!Value.Check(RemuxAnswerSchema, message)) return;
    if (message.type === 'flv') this.#onFlv(Buffer.from(message.data, 'base64'));
    else if (message.type === 'taken') this.#taken = message.bytes;
    else {
      this.#isReady = true;
      for (const order of this.#waiting.splice(0)) this.#say?.(order);
    }
  }
}
