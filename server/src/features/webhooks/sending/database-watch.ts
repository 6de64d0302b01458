/** Detects when the database goes away and comes back, and logs only the changes. */
import type { Logger } from 'pino';
import { isDatabaseAway } from '../../../platform/database/database-errors.ts';

export class DatabaseWatch {
  readonly #log: Logger;
  #isAway = false;

  constructor(log: Logger) {
    this.#log = log;
  }

  /**
   * Runs work that needs the database. Returns quietly if the database is away; rethrows other
   * errors.
   * @param onTrouble called after any error
   */
  async attempt(
    work: () => Promise<void>,
    onTrouble: () => unknown = () => undefined,
  ): Promise<void> {
    try {
      await work();
      if (this.#isAway) this.#log.info('webhook sender can reach the database again');
      this.#isAway = false;
    } catch (error) {
      onTrouble();
      if (!isDatabaseAway(error)) throw error;
      if (!this.#isAway) this.#log.warn({ err: error }, 'webhook sender cannot reach the database');
      this.#isAway = true;
    }
  }
}
