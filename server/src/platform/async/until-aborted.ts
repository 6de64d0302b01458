/**
 * Iterates over the source without ever closing it, and stops waiting for it when the signal
 * aborts.
 *
 * @throws the signal's reason
 */
export async function* untilAborted<T>(
  source: AsyncIterable<T>,
  signal?: AbortSignal,
): AsyncGenerator<T> {
  const iterator = source[Symbol.asyncIterator]();
  // Rejects only the current wait. Racing every chunk against one long-lived promise would retain
  // one reaction per chunk until the end of the upload.
  let rejectWait: (reason: unknown) => void = () => undefined;
  const onAbort = (): void => rejectWait(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    for (;;) {
      signal?.throwIfAborted();
      const wait = Promise.withResolvers<IteratorResult<T>>();
      rejectWait = wait.reject;
      iterator.next().then(wait.resolve, wait.reject);
      const next = await wait.promise;
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
}
