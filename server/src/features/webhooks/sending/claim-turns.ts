/**
 * Interval between claims for webhooks that are not quick. Hundreds of these make a claim slower,
 * and quick webhooks wait for its end.
 */
const patienceMs = 25;

/** Decides which claims are for all webhooks; the others are for quick ones only. */
export class ClaimTurns {
  #turn = 0;
  #claimedForAllAt = Number.NEGATIVE_INFINITY;
  #isForAllDue = false;

  /** The number of the claim that is made now, and whether it is for all webhooks. */
  next(now: number): { turn: number; isForAll: boolean } {
    const isForAll = now - this.#claimedForAllAt >= patienceMs;
    if (isForAll) this.#claimedForAllAt = now;
    this.#isForAllDue = !isForAll;
    this.#turn += 1;
    return { turn: this.#turn, isForAll };
  }

  /** Time until a claim may be for all webhooks again; Infinity if the latest one was. */
  untilForAllMs(now: number): number {
    return this.#isForAllDue ? Math.max(0, this.#claimedForAllAt + patienceMs - now) : Infinity;
  }
}
