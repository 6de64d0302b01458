/**
 * The only ways in which tests wait. Most wait for a condition; `pause` is for tests about time
 * itself or a slow counterpart, and states which.
 */
import assert from 'node:assert/strict';
import { inspect, isDeepStrictEqual } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';

/** Long enough for a machine busy with a dozen other things; only failures take this long. */
const patienceMs = 90_000;

/** Waits until `probe` returns something other than null, or fails after `timeoutMs`. */
export async function eventually<T>(
  what: string,
  probe: () => Promise<T | null>,
  timeoutMs = patienceMs,
): Promise<T> {
  const found = await until<T | null>(what, probe, (value) => value !== null, timeoutMs);
  assert.ok(found !== null);
  return found;
}

/** Reads a value repeatedly until it is as expected. A failure shows the last value. */
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

/** Asserts that a value stays unchanged for a while, for example that nothing more is sent. */
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

/** Waits until the clock is past a given time by `marginMs`. */
export async function untilAfter(moment: number | string | Date, marginMs = 50): Promise<void> {
  const at = new Date(moment).getTime() + marginMs;
  // A timer may fire a millisecond early.
  while (Date.now() < at) await sleep(at - Date.now() + 1);
}

/**
 * Lets time pass in tests about time: a slow client or receiver, a fault at a certain time, an age.
 * Never use it to let something else happen first: that is `until`.
 */
export async function pause(ms: number, _why: string): Promise<void> {
  await sleep(ms);
}
