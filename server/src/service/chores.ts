import type { Logger } from 'pino';
import { every, background } from '../platform/lifecycle.ts';

/** Something that has to be done again and again. It may be interrupted at any point. */
export type Chore = {
  name: string;
  intervalMs: number;
  run: (signal: AbortSignal) => Promise<unknown>;
};

/** Runs each chore in its own rhythm, first at once. Disposing waits for those under way. */
export function startChores(chores: readonly Chore[], log: Logger): AsyncDisposable {
  const stack = new AsyncDisposableStack();
  for (const { name, intervalMs, run } of chores) {
    const loop = (signal: AbortSignal) =>
      every(intervalMs, async () => void (await run(signal)), signal);
    stack.use(background(name, loop, log));
  }
  return stack;
}
