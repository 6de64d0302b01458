/**
 * Marks the rejection of a promise as handled, for work that is started now and awaited later.
 * Otherwise a failure before the `await`, or an error that skips the `await`, would end the
 * process. Code that awaits the promise still gets the rejection.
 *
 * Prefer `Promise.all` if the order does not matter.
 */
export function awaitedLater<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}
