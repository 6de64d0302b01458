/**
 * The delay between polls: short while they find something, and longer step by step while they do
 * not. An idle service polls its database all day.
 */
export class PollPace {
  readonly #shortestMs: number;
  readonly #longestMs: number;
  #ms: number;

  constructor({ shortestMs, longestMs }: { shortestMs: number; longestMs: number }) {
    this.#shortestMs = shortestMs;
    this.#longestMs = longestMs;
    this.#ms = shortestMs;
  }

  get ms(): number {
    return this.#ms;
  }

  foundSomething(): void {
    this.#ms = this.#shortestMs;
  }

  foundNothing(): void {
    this.#ms = Math.min(this.#longestMs, this.#ms * 1.1);
  }
}
