/**
 * The rate limit of a webhook: at most this many requests begin within any second, in a steady flow
 * rather than a burst at the start of each second. Times are milliseconds of a monotonic clock.
 *
 * 1. There are at most `perSecond` requests that began within the last `windowMs` or are claimed
 *    but have not begun. No second therefore exceeds the limit, no matter how long connecting
 *    takes.
 * 2. In addition, a token bucket spreads them out: it holds a tenth of a second's worth, or at
 *    least one token.
 *
 * Only one process at a time sends to such a webhook: see `turn-queries.ts`.
 */

/** One second plus the variation in latency between two requests. */
const windowMs = 1_050;

export class RateLimit {
  #perSecond: number;
  /** Start times of the requests in the window, oldest first. */
  readonly #begun: number[] = [];
  /** Claimed but not begun. */
  #reserved = 0;
  #tokens = 1;
  /** The remainder of the latest offer. */
  #left = 0;
  #filledAt: number;

  constructor(perSecond: number, now: number) {
    this.#perSecond = perSecond;
    this.#filledAt = now;
  }

  change(perSecond: number, now: number): void {
    this.#fill(now);
    this.#perSecond = perSecond;
  }

  /** Returns the number of deliveries that may be claimed now. */
  offer(now: number): number {
    this.#fill(now);
    const room = this.#perSecond - this.#begun.length - this.#reserved;
    this.#left = Math.max(0, Math.min(Math.floor(this.#tokens), room));
    return this.#left;
  }

  /** Claims one request. May leave a debt that later tokens pay off. */
  take(): void {
    this.#reserved += 1;
    this.#tokens -= 1;
    this.#left -= 1;
  }

  /** A claimed request starts, or fails before starting. */
  begin(now: number): void {
    this.#reserved -= 1;
    this.#begun.push(now);
  }

  giveBack(): void {
    this.#reserved -= 1;
    this.#tokens += 1;
  }

  /**
   * Time until there is room for queued deliveries. Infinity if the latest claim did not use up its
   * offer, because then nothing is queued, or if only the end of a send makes room.
   */
  untilRoomMs(now: number): number {
    if (this.#left > 0) return Infinity;
    this.#fill(now);
    const tokenMs = (Math.max(0, 1 - this.#tokens) / this.#perSecond) * 1_000;
    const excess = this.#begun.length + this.#reserved - this.#perSecond;
    if (excess < 0) return tokenMs;
    const leaving = this.#begun[excess];
    return leaving === undefined ? Infinity : Math.max(tokenMs, leaving + windowMs - now);
  }

  #fill(now: number): void {
    const gained = ((now - this.#filledAt) / 1_000) * this.#perSecond;
    this.#tokens = Math.min(Math.max(1, this.#perSecond / 10), this.#tokens + gained);
    this.#filledAt = now;
    const counting = this.#begun.findIndex((at) => at > now - windowMs);
    this.#begun.splice(0, counting === -1 ? this.#begun.length : counting);
  }
}
