import { postBeforeEnd, addressWithKey } from './request.ts';
import { type Transport } from './transport.ts';

/** Calls back when the page is hidden or left, and when it is shown again. Does nothing in Node. */
export function watchPage(actions: { hidden(): void; shown(): void }, signal: AbortSignal): void {
  if (typeof document === 'undefined') return;
  const onVisibility = (): void => {
    if (document.visibilityState === 'hidden') actions.hidden();
    else actions.shown();
  };
  document.addEventListener('visibilitychange', onVisibility, { signal });
  // Browsers differ in whether they fire `visibilitychange` before or after this event. Either way,
  // everything tracked before the later of the two is sent.
  window.addEventListener('pagehide', () => actions.hidden(), { signal });
}

/**
 * Sends a text from a page that may close at any time. The promise settles if the page survives.
 * Resolves to `beaconed` if there will be no response, and to null if it could not be sent.
 */
export function sendFromEndingPage(
  transport: Transport,
  path: string,
  json: string,
): Promise<unknown> | 'beaconed' | null {
  if (typeof Request === 'function' && 'keepalive' in Request.prototype) {
    return postBeforeEnd(transport, path, json);
  }
  // Some browser settings remove this function.
  if (!('sendBeacon' in navigator)) return null;
  const { href } = addressWithKey(transport, path);
  return navigator.sendBeacon(href, json) ? 'beaconed' : null;
}
