import { Bag, type BagMember } from '../../../platform/memory/bag.ts';

export type Waiting = BagMember & {
  /** On the process's monotonic clock. */
  readonly submittedAt: number;
};

/** Tracks unanswered requests and reports those that have waited too long. */
export class WaitingRequests<T extends Waiting> {
  readonly #maxWaitMs: number;
  readonly #onLate: (late: T[]) => void;
  readonly #waiting = new Bag<T>();
  #timer: NodeJS.Timeout | null = null;

  /**
   * @param onLate receives requests that have waited for `maxWaitMs`, which are then no longer
   *   tracked
   */
  constructor(maxWaitMs: number, onLate: (late: T[]) => void) {
    this.#maxWaitMs = maxWaitMs;
    this.#onLate = onLate;
  }

  add(one: T): void {
    this.#waiting.add(one);
    if (this.#timer === null) this.#lookIn(this.#maxWaitMs);
  }

  /** Must be called when a request has been answered. */
  delete(one: T): void {
    this.#waiting.delete(one);
  }

  #lookIn(ms: number): void {
    this.#timer = setTimeout(() => this.#look(), ms).unref();
  }

  #look(): void {
    this.#timer = null;
    const lateFrom = performance.now() - this.#maxWaitMs;
    const late: T[] = [];
    let next: number | null = null;
    for (const one of this.#waiting) {
      if (one.submittedAt <= lateFrom) late.push(one);
      else next = Math.min(next ?? one.submittedAt, one.submittedAt);
    }
    for (const one of late) this.#waiting.delete(one);
    if (next !== null) this.#lookIn(next - lateFrom);
    if (late.length > 0) this.#onLate(late);
  }
}
