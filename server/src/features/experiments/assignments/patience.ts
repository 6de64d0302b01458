/**
 * How long answers wait for the database. What takes longer than three seconds holds up no further
 * answer until the database has done something again, so that they go on from memory in an outage.
 */
import { setTimeout as delay } from 'node:timers/promises';

const maxWaitMs = 3_000;

export class Patience {
  #isLost = false;

  /** @returns null where the work fails or takes too long; it goes on all the same */
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
