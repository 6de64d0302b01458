/** Where the console is: a path and parameters behind the `#`, so that every view has a link. */
import { useSyncExternalStore } from 'react';

export type Location = { path: string; query: URLSearchParams };

export function useLocation(): Location {
  const hash = useSyncExternalStore(listen, () => window.location.hash);
  const [path = '', query = ''] = hash.replace(/^#/, '').split('?');
  return { path: path === '' ? '/overview' : path, query: new URLSearchParams(query) };
}

function listen(onChange: () => void): () => void {
  window.addEventListener('hashchange', onChange);
  return () => window.removeEventListener('hashchange', onChange);
}

/** Changes parameters of the view without a step in the history. */
export function setQuery(path: string, values: Record<string, string>): void {
  const query = new URLSearchParams(Object.entries(values).filter(([, value]) => value !== ''));
  window.history.replaceState(
    null,
    '',
    `#${path}${query.size === 0 ? '' : `?${query.toString()}`}`,
  );
  window.dispatchEvent(new HashChangeEvent('hashchange'));
}
