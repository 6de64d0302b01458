import { reasonOf } from './abort.ts';

type FlushWaiter = {
  /** Events up to this one must be acknowledged. */
  readonly sequence: number;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
};

/** The callers of `flush`, who wait until everything tracked before is acknowledged. */
export class FlushWaiters {
  #waiters: FlushWaiter[] = [];

  /**
   * Resolves once all events up to `sequence` are acknowledged. Throws the signal's reason once it
   * is aborted; it must not have been before.
   *
   * @param added called as soon as the waiter counts
   */
  async wait(sequence: number, signal: AbortSignal | undefined, added: () => void): Promise<void> {
    let stop = (): void => {};
    try {
      await new Promise<void>((resolve, reject) => {
        const waiter = { sequence, resolve, reject };
        stop = () => {
          this.#waiters = this.#waiters.filter((other) => other !== waiter);
          reject(reasonOf(signal));
        };
        signal?.addEventListener('abort', stop, { once: true });
        this.#waiters.push(waiter);
        added();
      });
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }

  /** Whether anybody waits for this event. */
  isAwaited(sequence: number): boolean {
    return this.#waiters.some((waiter) => waiter.sequence >= sequence);
  }

  /** Must be called when all events before `firstSequence` are acknowledged. */
  answer(firstSequence: number): void {
    const isAnswered = ({ sequence }: FlushWaiter): boolean => sequence < firstSequence;
    for (const { resolve } of this.#waiters.filter(isAnswered)) resolve();
    this.#waiters = this.#waiters.filter((waiter) => !isAnswered(waiter));
  }

  rejectAll(reason: () => Error): void {
    for (const { reject } of this.#waiters.splice(0)) reject(reason());
  }
}
