/**
 * Decides when a projection writes. After a pause, it writes immediately, so an event is visible a
 * few milliseconds after its response. Under load, the next pass collects for about as long as the
 * previous one took, so passes grow with the load and each row is written less often.
 */
const minMs = 150;
const maxFreshMs = 500;
const maxStaleMs = 10_000;
const maxDelayMs = 30_000;
const allBlocks = 1_000;
const maxFreshEvents = 60_000;
const maxStaleEvents = 120_000;

export class Pace {
  readonly #maxDuty: number;
  #dueAt = -Infinity;
  #retryAt = -Infinity;
  #delayMs = 0;
  #failedOver: string | null = null;
  #failedAt = 0;
  /** A pass is written once it has collected this many events, which limits its memory. */
  readonly maxEvents: number;
  /** Maximum number of blocks on a page: one after a failure, to identify the faulty block. */
  maxBlocks = allBlocks;

  constructor(maxDuty: number) {
    this.#maxDuty = maxDuty;
    this.maxEvents = maxDuty === 1 ? maxFreshEvents : maxStaleEvents;
  }

  isDue(): boolean {
    return this.untilDueMs() <= 0;
  }

  untilDueMs(): number {
    return this.maxBlocks === 1 ? 0 : this.#dueAt - performance.now();
  }

  mayRetry(): boolean {
    return performance.now() >= this.#retryAt;
  }

  /** Records that a pass up to the block `sequence` was written, and that it took `durationMs`. */
  written(durationMs: number, sequence: number): void {
    const max = this.#maxDuty === 1 ? maxFreshMs : maxStaleMs;
    const restMs = Math.min(Math.max(durationMs / this.#maxDuty, minMs), max);
    this.#dueAt = performance.now() + restMs;
    this.#delayMs = 0;
    // The block at which a pass failed may still be ahead.
    if (sequence < this.#failedAt) return;
    this.#failedOver = null;
    this.maxBlocks = allBlocks;
  }

  /**
   * Records a failed pass whose last block was `sequence`.
   *
   * @returns the delay before the next attempt, and whether the cause differs from the last one
   */
  failed(sequence: number, over: string): { delayMs: number; isNews: boolean } {
    this.#failedAt = Math.max(this.#failedAt, sequence);
    const isNews = over !== this.#failedOver;
    this.#failedOver = over;
    this.#delayMs = Math.min(Math.max(this.#delayMs * 2, 250), maxDelayMs);
    this.#retryAt = performance.now() + this.#delayMs;
    this.maxBlocks = 1;
    return { delayMs: this.#delayMs, isNews };
  }
}
