/**
 * The rate limit of a webhook: at most so many requests begin within any second, and a steady flow
 * rather than a burst at each second's start. Times are milliseconds of a monotonic clock.
 *
 * 1. Of the requests that began within the last `windowMs` and those that are claimed and have not
 *    begun, there are at most `perSecond`. So however late a connection comes, no second has more.
 * 2. Beside that, a token bucket spreads them: it holds a tenth of a second's worth, or one token.
 *
 * One process at a time sends to such a webhook: see `turn-queries.ts`.
 */

/** A second, and the difference between the ways of two requests to the receiver. */
const windowMs = 1_050;

export class RateLimit {
  #perSecond: number;
  /** When requests began, oldest first, as far as they count. */
  readonly #begun: number[] = [];
  /** Claimed, and not begun. */
  #reserved = 0;
  #tokens = 1;
  /** Of the latest offer. */
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

  /** How many may be claimed now. */
  offer(now: number): number {
    this.#fill(now);
    const room = this.#perSecond - this.#begun.length - this.#reserved;
    this.#left = Math.max(0, Math.min(Math.floor(this.#tokens), room));
    return this.#left;
  }

  /** One is claimed. May leave a debt, which later tokens pay. */
  take(): void {
    this.#reserved += 1;
    this.#tokens -= 1;
    this.#left -= 1;
  }

  /** A claimed one begins, or has failed without. */
  begin(now: number): void {
    this.#reserved -= 1;
    this.#begun.push(now);
  }

  /** A claimed one is given back. */
  giveBack(): void {
    this.#reserved -= 1;
    this.#tokens += 1;
  }

  /**
   * How long until there is room for what may still be queued. Infinity where the latest claim left
   * some of what it was offered: then nothing is queued; and where the end of a send makes the room.
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
