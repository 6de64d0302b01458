/**
 * Why the service ends: it is told to stop, or an error was not caught.
 *
 *   running ──SIGTERM, SIGINT──▶ stopping ──everything closed──▶ exit code 0
 *      └──uncaught error──▶ failing ──everything closed──▶ restarted in the same process
 *                              ├──SIGTERM, SIGINT──▶ stopping
 *                              └──too many recent restarts, or not possible here──▶ exit code 1
 *
 * An uncaught error is an exception or an unhandled rejection. It leaves the code that threw it in
 * an unknown state, so the process must restart, but it answers requests in flight first.
 *
 * Invariants: (1) `stopping` and `failing` always end within a bounded time; (2) the process id
 * stays the same, so a supervisor sees no exit; (3) errors are counted across restarts.
 */
import type { Logger } from 'pino';
import { sleep } from '../platform/async/lifecycle.ts';

/** Carries the error count and the restart times over to the next start. Not a setting. */
const carriedVariable = '_REELFEED_UNCAUGHT_ERRORS';
const maxRestarts = 5;
const recentMs = 10 * 60_000;
/** Pause before the second restart; it doubles with each further one. */
const firstPauseMs = 1_000;
/** Log at most this many errors, so that a recurring error does not flood the log. */
const maxLoggedErrors = 20;

/**
 * Ctrl-C in a terminal signals every process in the foreground, and `npm` and the launcher forward
 * it once more. Signals this close together count as one.
 */
const sameSignalMs = 500;

export type EndingOptions = {
  readonly env: NodeJS.ProcessEnv;
  readonly log: Logger;
  /** Time limit for closing after an uncaught error. */
  readonly closeWithinMs: number;
  /** Writes the log lines that are still buffered. */
  readonly flush: () => Promise<void>;
};

export class Ending implements Disposable {
  readonly #options: EndingOptions;
  readonly #end = new AbortController();
  readonly #stop = new AbortController();
  readonly #restartedAt: readonly number[];
  #errors: number;
  #ownErrors = 0;
  #stoppedAt = 0;
  #deadline: NodeJS.Timeout | undefined;

  constructor(options: EndingOptions) {
    this.#options = options;
    const carried = (options.env[carriedVariable] ?? '').split(',').map(Number);
    const [errors = 0, ...restartedAt] = carried.filter(Number.isFinite);
    this.#errors = errors;
    this.#restartedAt = restartedAt.filter((at) => Date.now() - at < recentMs);
    process.on('SIGTERM', this.#onSignal).on('SIGINT', this.#onSignal);
    // Node reports unhandled rejections here as well.
    process.on('uncaughtException', this.#onError);
  }

  /** Aborts when the service has to close, for any reason. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  get hasFailed(): boolean {
    return this.#ownErrors > 0;
  }

  /** Number of uncaught errors, including those before restarts. */
  get errors(): number {
    return this.#errors;
  }

  /** Must be called once everything is closed. Restarts the process if an error ended it. */
  async finish(): Promise<void> {
    const { signal } = this.#stop;
    if (!this.hasFailed || signal.aborted) return;
    const restarts = this.#restartedAt.length;
    if (restarts >= maxRestarts || process.execve === undefined) {
      this.#options.log.error({ restarts }, 'process exiting because of uncaught errors');
      process.exitCode = 1;
      return;
    }
    if (restarts > 0) await sleep(firstPauseMs * 2 ** (restarts - 1), signal);
    if (signal.aborted) return;
    await this.#options.flush();
    this.#startAgain();
  }

  /** Replaces the program of this process; does not return. */
  #startAgain(): void {
    const { env } = this.#options;
    const carried = [this.#errors, ...this.#restartedAt, Date.now()].join(',');
    const args = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
    process.execve?.(process.execPath, args, { ...env, [carriedVariable]: carried });
  }

  readonly #onSignal = (name: NodeJS.Signals): void => {
    if (!this.#stop.signal.aborted) {
      this.#options.log.info({ signal: name }, 'stopping');
      this.#stoppedAt = performance.now();
      this.#stop.abort();
      this.#end.abort();
    } else if (performance.now() - this.#stoppedAt >= sameSignalMs) {
      process.exit(1);
    }
  };

  readonly #onError = (error: unknown, origin: NodeJS.UncaughtExceptionOrigin): void => {
    const { log, closeWithinMs } = this.#options;
    this.#errors += 1;
    this.#ownErrors += 1;
    if (this.#ownErrors <= maxLoggedErrors) {
      log.error({ err: error, origin }, 'uncaught error: shutting down and restarting');
    }
    if (this.#stop.signal.aborted) process.exitCode = 1;
    this.#deadline ??= setTimeout(() => void this.#stopClosing(), closeWithinMs);
    this.#end.abort();
  };

  /**
   * A resource broken by the error may never finish closing, so closing is given up after a while.
   */
  async #stopClosing(): Promise<void> {
    this.#options.log.error('shutdown after an uncaught error timed out');
    await this.finish();
    process.exit(1);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#deadline);
    process.off('SIGTERM', this.#onSignal).off('SIGINT', this.#onSignal);
    process.off('uncaughtException', this.#onError);
  }
}
