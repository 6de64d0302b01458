/**
 * Tells listeners of this process, by name, that something may have changed: a job is waiting, the
 * event log has grown, content was edited. Give a hint after the transaction has committed. Hints
 * only save time, so a lost hint is harmless: every listener also polls, because other processes
 * make changes too. NOTIFY is deliberately avoided: in the writing transaction, it takes a
 * database-wide lock at COMMIT.
 */
export class Hints {
  readonly #listeners = new Map<string, Set<() => void>>();

  give(name: string): void {
    for (const listener of this.#listeners.get(name) ?? []) listener();
  }

  /**
   * Calls the listener synchronously for each hint with this name. Returns a function that removes
   * it.
   */
  listen(name: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    listeners.add(listener);
    this.#listeners.set(name, listeners);
    return () => listeners.delete(listener);
  }
}

/** Wakes one waiting loop. If none is waiting, the next wait returns immediately. */
export class Doorbell {
  #rung = false;
  #wake: (() => void) | null = null;

  ring(): void {
    this.#rung = true;
    this.#wake?.();
  }

  /**
   * Resolves after `ms`, when the bell rings, or when the signal aborts. Never rejects.
   *
   * @returns whether the bell has rung
   */
  async wait(ms: number, signal: AbortSignal): Promise<boolean> {
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
    const hasRung = this.#rung;
    this.#rung = false;
    return hasRung;
  }
}
