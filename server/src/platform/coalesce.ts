/**
 * Coalesces calls: every caller gets the result of the run of `produce` that is under way, or of the
 * latest one until it is `maxAgeMs` old (0: not at all). A failed run is shared by those who wait for
 * it, and never kept.
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
