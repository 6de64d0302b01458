/**
 * The validity of this page's session. It ends with any 401 response, or when another tab signs
 * out, since all tabs share the cookie. `generation` counts the sign-ins.
 */
import { useSyncExternalStore } from 'react';

export type Session = { readonly isOver: boolean; readonly generation: number };

const noticeKey = 'reelfeed.console.session';
let session: Session = { isOver: false, generation: 0 };
const listeners = new Set<() => void>();

export function useSession(): Session {
  return useSyncExternalStore(listen, () => session);
}

/** Like `fetch`; a 401 ends the session, unless someone has signed in since the request. */
export async function fetchInSession(...request: Parameters<typeof fetch>): Promise<Response> {
  const { generation } = session;
  const answer = await fetch(...request);
  if (answer.status === 401 && generation === session.generation) sessionEnded();
  return answer;
}

/** Call after a sign-in, in this tab or another one. */
export function sessionBegun(): void {
  change({ isOver: false, generation: session.generation + 1 });
}

/** Notifies the browser's other tabs. */
export function tellOtherTabs(what: 'begun' | 'ended'): void {
  try {
    // Without the time, a second identical notice would not count as a change and would not be
    // sent.
    localStorage.setItem(noticeKey, `${what} ${Date.now()}`);
  } catch {
    // Without storage, the other tabs find out with their next request.
  }
}

function sessionEnded(): void {
  if (!session.isOver) change({ ...session, isOver: true });
}

function change(next: Session): void {
  session = next;
  for (const listener of listeners) listener();
}

function listen(onChange: () => void): () => void {
  listeners.add(onChange);
  return () => listeners.delete(onChange);
}

window.addEventListener('storage', ({ key, newValue }) => {
  if (key !== noticeKey) return;
  if (newValue?.startsWith('ended') === true) sessionEnded();
  if (newValue?.startsWith('begun') === true) sessionBegun();
});
