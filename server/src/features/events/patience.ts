export type Waiting = {
  /** By the process's monotonic clock. */
  readonly submittedAt: number;
};

/** Those without an answer, each of which is refused when it has waited for too long. */
export class Patience<T extends Waiting> {
  readonly #mostWaitMs: number;
  readonly #onLate: (late: T[]) => void;
  /** In the order in which they came. */
  readonly #waiting = new Set<T>();
  #timer: NodeJS.Timeout | null = null;

  /** @param onLate told of those that have waited for `mostWaitMs`; they are forgotten here */
  constructor(mostWaitMs: number, onLate: (late: T[]) => void) {
    this.#mostWaitMs = mostWaitMs;
    this.#onLate = onLate;
  }

  add(one: T): void {
    this.#waiting.add(one);
    if (this.#timer === null) this.#lookIn(this.#mostWaitMs);
  }

  /** It has its answer. */
  delete(one: T): void {
    this.#waiting.delete(one);
  }

  #lookIn(ms: number): void {
    this.#timer = setTimeout(() => this.#look(), ms).unref();
  }

  #look(): void {
    this.#timer = null;
    const lateFrom = performance.now() - this.#mostWaitMs;
    const late: T[] = [];
    for (const one of this.#waiting) {
      if (one.submittedAt > lateFrom) {
        this.#lookIn(one.submittedAt - lateFrom);
        break;
      }
      late.push(one);
      this.#waiting.delete(one);
    }
    if (late.length > 0) this.#onLate(late);
  }
}
