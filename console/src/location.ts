/** Where the console is: a path and parameters behind the `#`, so that every view has a link. */
import { useMemo, useSyncExternalStore } from 'react';

export type Location = { path: string; query: URLSearchParams };

export function useLocation(): Location {
  const hash = useSyncExternalStore(listen, () => window.location.hash);
  return useMemo(() => {
    const [path = '', query = ''] = hash.replace(/^#/, '').split('?');
    return { path: path === '' ? '/overview' : path, query: new URLSearchParams(query) };
  }, [hash]);
}

function listen(onChange: () => void): () => void {
  window.addEventListener('hashchange', onChange);
  return () => window.removeEventListener('hashchange', onChange);
}

/** Goes to another view. */
export function goTo(path: string): void {
  window.location.hash = path;
}

/** The parameters of the view, and how to change some of them without a step in the history. */
export function useParameters(): [
  Readonly<Record<string, string>>,
  (changes: Readonly<Record<string, string | null>>) => void,
] {
  const { path, query } = useLocation();
  const values = useMemo(() => Object.fromEntries(query), [query]);
  return [values, (changes) => replaceQuery(path, { ...values, ...changes })];
}

function replaceQuery(path: string, values: Readonly<Record<string, string | null>>): void {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value) query.set(name, value);
  const address = query.size === 0 ? path : `${path}?${query.toString()}`;
  window.history.replaceState(null, '', `#${address}`);
  window.dispatchEvent(new HashChangeEvent('hashchange'));
}
