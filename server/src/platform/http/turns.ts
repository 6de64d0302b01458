/**
 * Runs work in order of arrival, one piece per turn of the event loop, so that other requests are
 * answered in between.
 */
const waiting: (() => void)[] = [];

export function takeTurn(work: () => void): void {
  if (waiting.push(work) === 1) setImmediate(next);
}

function next(): void {
  const work = waiting.shift();
  // Scheduled before the work, which may throw.
  if (waiting.length > 0) setImmediate(next);
  work?.();
}
