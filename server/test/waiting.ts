/**
 * The only ways in which a test waits. Most wait for a condition; `pause` is for tests whose subject
 * is time itself or a slow counterpart, and says which.
 */
import assert from 'node:assert/strict';
import { inspect, isDeepStrictEqual } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';

/** Long enough for a machine that does a dozen other things: it is only used up by a failure. */
const patienceMs = 90_000;

/** Waits until `probe` gives something else than null, or fails after `timeoutMs`. */
export async function eventually<T>(
  what: string,
  probe: () => Promise<T | null>,
  timeoutMs = patienceMs,
): Promise<T> {
  const found = await until<T | null>(what, probe, (value) => value !== null, timeoutMs);
  assert.ok(found !== null);
  return found;
}

/** Reads a value again and again until it is as wanted. A failure shows the last value. */
export async function until<T>(
  what: string,
  read: () => T | Promise<T>,
  isWanted: (value: T) => boolean,
  timeoutMs = patienceMs,
): Promise<T> {
  const startedAt = performance.now();
  for (let everyMs = 5; ; everyMs = Math.min(50, everyMs * 1.5)) {
    const value = await read();
    if (isWanted(value)) return value;
    if (performance.now() - startedAt > timeoutMs) {
      const last = inspect(value, { depth: 4, maxStringLength: 2_000 });
      throw new Error(`timed out waiting for ${what} after ${timeoutMs} ms; last: ${last}`);
    }
    await sleep(everyMs);
  }
}

/** Proves that a value stays as it is for a while, such as that nothing more is sent. */
export async function stays<T>(
  what: string,
  read: () => T | Promise<T>,
  expected: T,
  forMs: number,
): Promise<void> {
  const startedAt = performance.now();
  do {
    const value = await read();
    if (!isDeepStrictEqual(value, expected)) {
      const afterMs = Math.round(performance.now() - startedAt);
      assert.deepEqual(value, expected, `${what} changed after ${afterMs} ms`);
    }
    await sleep(50);
  } while (performance.now() - startedAt < forMs);
  assert.deepEqual(await read(), expected, what);
}

/** Waits until the clock has passed a moment by `marginMs`. */
export async function untilAfter(moment: number | string | Date, marginMs = 50): Promise<void> {
  const at = new Date(moment).getTime() + marginMs;
  // A timer may fire a millisecond early.
  while (Date.now() < at) await sleep(at - Date.now() + 1);
}

/**
 * Lets time pass where time is what the test is about: a slow client or receiver, a fault at some
 * moment, an age. Never to let something else happen first: that is `until`.
 */
export async function pause(ms: number, _why: string): Promise<void> {
  await sleep(ms);
}
