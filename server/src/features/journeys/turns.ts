/** Runs one question at a time, because each needs a core and up to 100 MB of memory. */
import { ApiError } from '../../platform/http/errors.ts';

const maxWaiting = 10;

export class Turns {
  #waiting = 0;
  #last: Promise<unknown> = Promise.resolve();

  /** @throws ApiError UNAVAILABLE if too many are waiting */
  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#waiting >= maxWaiting) {
      throw new ApiError('UNAVAILABLE', {
        message: `${maxWaiting} queries are already running. Try again in a few seconds.`,
      });
    }
    this.#waiting += 1;
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    try {
      return await turn;
    } finally {
      this.#waiting -= 1;
    }
  }
}
