/**
 * Replaces parts of `AbortSignal` that the oldest supported browsers lack: `reason` and its users.
 */

/** Throws the signal's reason if it is aborted. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw reasonOf(signal);
}

/** Why an aborted signal was aborted. */
export function reasonOf(signal: AbortSignal | undefined): unknown {
  return signal?.reason ?? new DOMException('The operation was aborted.', 'AbortError');
}
