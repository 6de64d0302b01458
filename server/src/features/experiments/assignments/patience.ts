/**
 * Limits how long responses wait for the database. After one wait exceeds three seconds, no further
 * response waits until the database has completed something again. During an outage, responses are
 * therefore served from memory.
 */
import { setTimeout as delay } from 'node:timers/promises';

const maxWaitMs = 3_000;

export class AssignmentPatience {
  #isLost = false;

  /**
   * @returns null if the work fails or takes too long; it continues in the background either way
   */
  async waitFor<T>(work: Promise<T>): Promise<T | null> {
    const done = work.then(
      (value) => {
        this.#isLost = false;
        return value;
      },
      () => null,
    );
    if (this.#isLost) return null;
    const giveUp = new AbortController();
    const late = Symbol();
    const first = await Promise.race([
      done,
      delay(maxWaitMs, late, { signal: giveUp.signal }).catch(() => late),
    ]);
    giveUp.abort();
    if (first !== late) return first as T | null;
    this.#isLost = true;
    return null;
  }
}
