/**
 * Calculates boundary curves in a worker thread: one takes a tenth of a second or more, and at
 * midnight all experiments of a time zone need one at once.
 */
import { LRUCache } from 'lru-cache';
import { startWorkerThread, type WorkerThread } from '../../../platform/async/worker-thread.ts';
import type { Curve, PlannedLook } from './group-sequential.ts';

const curves = new LRUCache<string, Promise<Curve>>({ max: 500 });
/** Tail of the queue: the thread handles one request at a time. */
let queue: Promise<unknown> = Promise.resolve();
let waiting = 0;
let thread: WorkerThread<readonly PlannedLook[], Curve> | null = null;
const never = new AbortController().signal;

/** The boundary curve for the last of these looks. */
export function curveOf(looks: readonly PlannedLook[]): Promise<Curve> {
  const key = looks.map(({ time, spentTime }) => `${time} ${spentTime}`).join();
  const known = curves.get(key);
  if (known !== undefined) return known;
  const curve = queue.then(() => calculate(looks));
  waiting += 1;
  queue = curve.then(endUnlessNeeded, endUnlessNeeded);
  curves.set(key, curve);
  curve.catch(() => curves.delete(key));
  return curve;
}

function calculate(looks: readonly PlannedLook[]): Promise<Curve> {
  thread ??= startWorkerThread(new URL('boundary-worker.ts', import.meta.url), never);
  return thread.ask(looks);
}

/** Ends the thread when nobody is waiting, because looks come once a day. */
async function endUnlessNeeded(): Promise<void> {
  waiting -= 1;
  if (waiting > 0) return;
  const ended = thread;
  thread = null;
  await ended?.[Symbol.asyncDispose]();
}
