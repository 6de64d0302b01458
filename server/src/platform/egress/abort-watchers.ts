/**
 * Many that end with one signal. The listeners of a signal are a list, which is walked for each one
 * that is added or removed; with hundreds of requests under way that takes longer than signing one.
 */
import { Bag, type BagMember } from '../bag.ts';

export type AbortWatcher = BagMember & {
  /** The signal has aborted. */
  aborted(reason: unknown): void;
};

const watchersOf = new WeakMap<AbortSignal, Bag<AbortWatcher>>();

/** Tells the watcher once when the signal aborts, until `offAbort`. */
export function onAbort(signal: AbortSignal, watcher: AbortWatcher): void {
  let watchers = watchersOf.get(signal);
  if (watchers === undefined) {
    const all = new Bag<AbortWatcher>();
    signal.addEventListener('abort', () => {
      // Each leaves the bag when it is told.
      const everyone = [...all];
      for (const each of everyone) each.aborted(signal.reason);
    });
    watchersOf.set(signal, all);
    watchers = all;
  }
  watchers.add(watcher);
}

export function offAbort(signal: AbortSignal, watcher: AbortWatcher): void {
  watchersOf.get(signal)?.delete(watcher);
}
