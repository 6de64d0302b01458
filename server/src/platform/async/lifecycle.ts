/** Shared helpers for long-running work: sleeping, repeating, and restarting with back-off. */
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { awaitedLater } from './awaited-later.ts';

/** Resolves after `ms`, or immediately when the signal aborts. Never rejects. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}

const firstDelayMs = 100;
const longestDelayMs = 4_000;

/**
 * Runs `run(signal)` until it returns or the signal aborts. If it throws, it is restarted after a
 * delay that doubles up to four seconds and resets after a minute without a failure. The log level
 * rises with the delay, so a brief failure triggers no alert.
 */
export async function keepRunning(
  name: string,
  run: (signal: AbortSignal) => Promise<void>,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  let delayMs = firstDelayMs;
  while (!signal.aborted) {
    const startedAt = performance.now();
    try {
      await run(signal);
      return;
    } catch (error) {
      if (signal.aborted) return;
      if (performance.now() - startedAt > 60_000) delayMs = firstDelayMs;
      const level = delayMs < 1_000 ? 'info' : delayMs < longestDelayMs ? 'warn' : 'error';
      log[level]({ err: error, loop: name, delayMs }, 'background loop failed; restarting it');
      await sleep(delayMs, signal);
      delayMs = Math.min(delayMs * 2, longestDelayMs);
    }
  }
}

/**
 * Runs `tick` every `intervalMs` without overlap until the signal aborts. A tick that throws ends
 * the loop; under `keepRunning` it is logged and restarted after a delay.
 */
export async function every(
  intervalMs: number,
  tick: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await tick(signal);
    await sleep(intervalMs, signal);
  }
}

/**
 * Starts a loop in the background. Disposing of the result stops the loop and waits for its end.
 */
export function background(
  name: string,
  run: (signal: AbortSignal) => Promise<void>,
  log: Logger,
): AsyncDisposable {
  const controller = new AbortController();
  const ended = awaitedLater(keepRunning(name, run, log, controller.signal));
  return {
    async [Symbol.asyncDispose]() {
      controller.abort();
      await ended;
    },
  };
}

/** Keeps what `open` returns until the signal aborts, and then disposes of it. */
export async function holdOpen(
  open: () => AsyncDisposable | Disposable,
  signal: AbortSignal,
): Promise<void> {
  await using _opened = open();
  if (!signal.aborted) await once(signal, 'abort');
}
