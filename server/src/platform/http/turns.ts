/**
 * Work that takes turns: what is given here runs in the order in which it came, one piece in each turn
 * of the event loop, so that other requests are answered between any two of them.
 */
const waiting: (() => void)[] = [];

export function takeTurn(work: () => void): void {
  if (waiting.push(work) === 1) setImmediate(next);
}

function next(): void {
  const work = waiting.shift();
  // Before the work, which may throw.
  if (waiting.length > 0) setImmediate(next);
  work?.();
}
