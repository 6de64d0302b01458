/**
 * When a projection writes. After a pause, at once: an event is visible a few milliseconds after its
 * answer. Under load, the next pass collects for about as long as the last one took, so that passes
 * grow with the load and each row is written less often.
 */
const leastMs = 150;
const mostFreshMs = 500;
const mostStaleMs = 10_000;
const mostDelayMs = 30_000;
const allBlocks = 1_000;
const mostFreshEvents = 60_000;
const mostStaleEvents = 120_000;

export class Pace {
  readonly #mostDuty: number;
  #dueAt = -Infinity;
  #retryAt = -Infinity;
  #delayMs = 0;
  #failedOver: string | null = null;
  #failedAt = 0;
  /** A pass is written at the latest when it holds so many events, which bounds the memory. */
  readonly mostEvents: number;
  /** Most blocks of a page: after a failure one at a time, so that the one at fault is known. */
  mostBlocks = allBlocks;

  constructor(mostDuty: number) {
    this.#mostDuty = mostDuty;
    this.mostEvents = mostDuty === 1 ? mostFreshEvents : mostStaleEvents;
  }

  isDue(): boolean {
    return this.untilDueMs() <= 0;
  }

  untilDueMs(): number {
    return this.mostBlocks === 1 ? 0 : this.#dueAt - performance.now();
  }

  mayRetry(): boolean {
    return performance.now() >= this.#retryAt;
  }

  /** A pass was written up to the block `sequence`, and took `durationMs`. */
  written(durationMs: number, sequence: number): void {
    const most = this.#mostDuty === 1 ? mostFreshMs : mostStaleMs;
    const restMs = Math.min(Math.max(durationMs / this.#mostDuty, leastMs), most);
    this.#dueAt = performance.now() + restMs;
    this.#delayMs = 0;
    // What has failed may still lie ahead.
    if (sequence < this.#failedAt) return;
    this.#failedOver = null;
    this.mostBlocks = allBlocks;
  }

  /**
   * A pass has failed whose last block was `sequence`. @returns how long to wait before the next, and
   * whether it has failed over something else than the last time
   */
  failed(sequence: number, over: string): { delayMs: number; isNews: boolean } {
    this.#failedAt = Math.max(this.#failedAt, sequence);
    const isNews = over !== this.#failedOver;
    this.#failedOver = over;
    this.#delayMs = Math.min(Math.max(this.#delayMs * 2, 250), mostDelayMs);
    this.#retryAt = performance.now() + this.#delayMs;
    this.mostBlocks = 1;
    return { delayMs: this.#delayMs, isNews };
  }
}
