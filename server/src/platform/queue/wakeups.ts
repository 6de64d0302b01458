/** Waking the workers of this process when a job was enqueued or a slot became free. */

/**
 * Tells the workers of this process that a job of some name may be waiting. Call `nudge` after the
 * enqueuing transaction has committed. It only saves time: a lost nudge costs one poll interval, as
 * does a job that another process enqueued. There is no NOTIFY behind it on purpose: inside the
 * writing transaction it would take a database-wide lock at COMMIT, and outside it would gain a
 * quarter of a second on jobs that run for seconds.
 */
export class JobWakeups {
  readonly #listeners = new Set<(jobName: string) => void>();

  nudge(jobName: string): void {
    for (const listener of this.#listeners) listener(jobName);
  }

  /** Returns what ends the subscription. */
  listen(listener: (jobName: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** One sleeper that can be woken. A ring while nobody sleeps ends the next sleep at once. */
export class Doorbell {
  #rung = false;
  #wake: (() => void) | null = null;

  ring(): void {
    this.#rung = true;
    this.#wake?.();
  }

  /** Resolves after `ms`, at a ring, or when the signal aborts. It never rejects. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#rung && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const wake = () => {
          clearTimeout(timer);
          signal.removeEventListener('abort', wake);
          this.#wake = null;
          resolve();
        };
        const timer = setTimeout(wake, ms);
        signal.addEventListener('abort', wake);
        this.#wake = wake;
      });
    }
    this.#rung = false;
  }
}
