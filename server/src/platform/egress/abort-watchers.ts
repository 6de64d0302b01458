/**
 * Many watchers of one signal. An `AbortSignal` scans its list of listeners for each addition and
 * removal; with hundreds of requests in flight, that takes longer than signing a request.
 */
import { Bag, type BagMember } from '../memory/bag.ts';

export type AbortWatcher = BagMember & {
  aborted(reason: unknown): void;
};

const watchersOf = new WeakMap<AbortSignal, Bag<AbortWatcher>>();

/** Notifies the watcher once when the signal aborts, until `offAbort`. */
export function onAbort(signal: AbortSignal, watcher: AbortWatcher): void {
  let watchers = watchersOf.get(signal);
  if (watchers === undefined) {
    const all = new Bag<AbortWatcher>();
    signal.addEventListener('abort', () => {
      // Each watcher leaves the bag when it is notified.
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
