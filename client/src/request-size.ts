/**
 * The size limit of event requests in bytes. A request that takes too long is halved, because the
 * same bytes would time out again on the same connection; each response lets the limit grow a bit.
 */
export class RequestSize {
  readonly #limitBytes: number;
  #maxBytes: number;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
    this.#maxBytes = limitBytes;
  }

  get maxBytes(): number {
    return this.#maxBytes;
  }

  timedOut(sentBytes: number): void {
    this.#maxBytes = Math.max(leastBytes, Math.floor(Math.min(sentBytes, this.#maxBytes) / 2));
  }

  answered(): void {
    this.#maxBytes = Math.min(this.#limitBytes, this.#maxBytes + growthBytes);
  }
}

/** A single event that is larger is sent alone. */
const leastBytes = 500;
const growthBytes = 2_000;
