/** Hints inside one process: what they tell of is in the database, so a lost one costs a poll. */

/**
 * Tells the listeners of this process, by name, that something may have changed: a job waits, the
 * event log has grown, content was edited. Give a hint after the transaction has committed. It only
 * saves time: everything that listens also polls, because other processes change things too. There
 * is no NOTIFY behind it on purpose. Inside the writing transaction, NOTIFY takes a database-wide
 * lock at COMMIT.
 */
export class Hints {
  readonly #listeners = new Map<string, Set<() => void>>();

  give(name: string): void {
    for (const listener of this.#listeners.get(name) ?? []) listener();
  }

  /** Calls the listener, in the same turn, at each hint of the name. Returns what ends this. */
  listen(name: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    listeners.add(listener);
    this.#listeners.set(name, listeners);
    return () => listeners.delete(listener);
  }
}

/** Wakes one waiting loop. If nobody is waiting, the next wait returns at once. */
export class Doorbell {
  #rung = false;
  #wake: (() => void) | null = null;

  ring(): void {
    this.#rung = true;
    this.#wake?.();
  }

  /** Resolves after `ms`, at a ring, or when the signal aborts. Never rejects. */
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
