import { type Store } from '@reelfeed/client/playing';

/**
 * A browser's storage, which may be forbidden, full or absent. In that case, reading returns null
 * and writing does nothing: the player works without it, but forgets.
 */
export function openStore(kind: 'localStorage' | 'sessionStorage'): Store {
  return {
    read: (name) => attempt(() => window[kind].getItem(prefix + name)) ?? null,
    write: (name, value) => attempt(() => window[kind].setItem(prefix + name, value)),
    remove: (name) => attempt(() => window[kind].removeItem(prefix + name)),
  };
}

const prefix = 'reelfeed.';

function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}
