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
  // A page that is left is hidden before or after this, depending on the browser; in either case
  // what is tracked until the last of both is sent.
  window.addEventListener('pagehide', () => actions.hidden(), { signal });
}

/**
 * Sends a text from a page that may end at any moment. The promise settles if the page lives on.
 * `beaconed` when there will be no answer; null when it could not be sent.
 */
export function sendFromEndingPage(
  transport: Transport,
  path: string,
  json: string,
): Promise<unknown> | 'beaconed' | null {
  if (typeof Request === 'function' && 'keepalive' in Request.prototype) {
    return postBeforeEnd(transport, path, json);
  }
  // Some browsers' settings take the function away.
  if (!('sendBeacon' in navigator)) return null;
  const { href } = addressWithKey(transport, path);
  return navigator.sendBeacon(href, json) ? 'beaconed' : null;
}
