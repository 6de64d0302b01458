/**
 * Coalesces calls: every caller gets the result of the running call of `produce`, or of the latest
 * one if it is at most `maxAgeMs` old (0 disables reuse). A failure goes to all callers waiting for
 * it, but is never reused.
 */
export function coalesce<T>(produce: () => Promise<T>, maxAgeMs: number): () => Promise<T> {
  let latest: Promise<T> | null = null;
  let endedAt: number | null = null;
  return () => {
    const isFresh = endedAt === null || performance.now() - endedAt < maxAgeMs;
    if (latest !== null && isFresh) return latest;
    endedAt = null;
    const run = produce();
    latest = run;
    run.then(
      () => (endedAt = performance.now()),
      () => (latest = null),
    );
    return run;
  };
}
