/**
 * The current location: a path and parameters in the fragment, so that every view has a link.
 * Another view is opened only if nothing would be lost or the user agrees.
 */
import { useMemo, useSyncExternalStore } from 'react';
import { ask } from './questions.tsx';
import { hasUnsaved } from './unsaved.ts';

export type Location = { path: string; query: URLSearchParams };

let hash = window.location.hash;
const listeners = new Set<() => void>();
/** The last address of each path with its parameters and scroll position. */
const addresses = new Map<string, { hash: string; scrollY: number }>();

export function useLocation(): Location {
  const current = useSyncExternalStore(listen, () => hash);
  return useMemo(() => parse(current), [current]);
}

function parse(text: string): Location {
  const [path = '', query = ''] = text.replace(/^#/, '').split('?');
  return { path: path === '' ? '/overview' : path, query: new URLSearchParams(query) };
}

function listen(onChange: () => void): () => void {
  listeners.add(onChange);
  return () => listeners.delete(onChange);
}

function move(next: string): void {
  addresses.set(parse(hash).path, { hash, scrollY: window.scrollY });
  hash = next;
  for (const listener of listeners) listener();
}

const question = {
  title: 'Leave without saving?',
  text: 'Your changes on this page are not saved yet.',
  action: 'Leave without saving',
};

window.addEventListener('hashchange', () => {
  const next = window.location.hash;
  if (next === hash) return;
  const isOtherView = parse(next).path !== parse(hash).path;
  if (!isOtherView || !hasUnsaved()) {
    move(next);
    return;
  }
  // The address has already changed, through a link or the browser's buttons.
  window.history.pushState(null, '', hash);
  void ask(question).then((isYes) => {
    if (!isYes) return;
    window.history.pushState(null, '', next);
    move(next);
  });
});

export function goTo(path: string): void {
  window.location.hash = path;
}

/** The last address of a path, including its parameters, so that going back keeps the filters. */
export const lastAddress = (path: string): string => addresses.get(path)?.hash ?? `#${path}`;

/** The scroll position at which a view was left; zero if it is opened with other parameters. */
export function lastScroll(): number {
  const left = addresses.get(parse(hash).path);
  return left?.hash === hash ? left.scrollY : 0;
}

/** The view's parameters, and a function that changes some without adding to the history. */
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
  move(`#${address}`);
}
