import { backoffMs, type Transport } from './transport.ts';

const maxBackoffMs = 30_000;
/** The maximum pause, no matter what the service asks for, because an app may run for months. */
const maxPauseMs = 3_600_000;

/**
 * When the next request may be sent: after a failure, not before back-off and `Retry-After` have
 * passed.
 */
export class RetryPace {
  readonly #transport: Transport;
  #failures = 0;
  #notBeforeMs = 0;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The remaining pause, or 0. */
  get pauseMs(): number {
    return Math.max(0, this.#notBeforeMs - performance.now());
  }

  succeeded(): void {
    this.#failures = 0;
    this.#notBeforeMs = 0;
  }

  failed(retryAfterMs: number): void {
    const pauseMs = backoffMs(this.#transport, this.#failures, maxBackoffMs);
    this.#failures += 1;
    this.#notBeforeMs = performance.now() + Math.min(maxPauseMs, Math.max(pauseMs, retryAfterMs));
  }
}
