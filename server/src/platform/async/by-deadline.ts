/** The longest delay that Node's timers support. */
const longestTimerMs = 2 ** 31 - 1;

/**
 * Returns the result of `work`, or null if the deadline passes first. A late result or failure is
 * ignored.
 *
 * @param deadline on the clock of `performance.now`
 * @throws what `work` throws before the deadline
 */
export async function byDeadline<T>(work: Promise<T>, deadline: number): Promise<T | null> {
  const { promise: tooLate, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(
    () => resolve(null),
    Math.min(longestTimerMs, Math.max(0, deadline - performance.now())),
  );
  try {
    return await Promise.race([work, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
