/**
 * A token bucket: each send takes a token, and tokens come with time. It holds a tenth of a second's
 * worth, or one token. Times are milliseconds of a monotonic clock.
 */
export class RateLimit {
  #perSecond: number;
  #tokens = 1;
  /** Of the latest offer. */
  #left = 0;
  #filledAt: number;

  constructor(perSecond: number, now: number) {
    this.#perSecond = perSecond;
    this.#filledAt = now;
  }

  /** @param perSecond sends a second; may be below one */
  change(perSecond: number, now: number): void {
    this.#fill(now);
    this.#perSecond = perSecond;
  }

  /** Whole tokens in the bucket, for the next claim. */
  offer(now: number): number {
    this.#fill(now);
    this.#left = Math.max(0, Math.floor(this.#tokens));
    return this.#left;
  }

  /** May leave a debt, which later tokens pay. */
  take(): void {
    this.#tokens -= 1;
    this.#left -= 1;
  }

  /**
   * How long until there is a token for what may still be queued. Infinity where the latest claim
   * left some of what it was offered: then nothing is queued.
   */
  untilTokenMs(now: number): number {
    if (this.#left > 0) return Infinity;
    this.#fill(now);
    return (Math.max(0, 1 - this.#tokens) / this.#perSecond) * 1_000;
  }

  #fill(now: number): void {
    const gained = ((now - this.#filledAt) / 1_000) * this.#perSecond;
    this.#tokens = Math.min(Math.max(1, this.#perSecond / 10), this.#tokens + gained);
    this.#filledAt = now;
  }
}
