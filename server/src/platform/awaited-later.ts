/**
 * Returns the promise, whose rejection no longer counts as unhandled. It is for work that is started
 * now and awaited after something else: if it fails in between, or if whoever would await it throws
 * first, the unhandled rejection would end the process. Whoever awaits it still gets the rejection.
 *
 * Prefer `Promise.all` where the order does not matter.
 */
export function awaitedLater<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}
