import { idIn } from './share.ts';
import { type Store } from '@reelfeed/client/playing';

const keyName = 'key';

/**
 * The publishable key of an element that is a whole page: from `?key=`, otherwise from this tab,
 * otherwise the element's own. A key in the address is moved into the tab's storage, so that it is
 * neither shared with a copied address nor kept in the history.
 */
export function takeKey(tab: Store, offered: string | null): string | null {
  const address = new URL(location.href);
  const given = address.searchParams.get('key')?.trim() ?? '';
  if (address.searchParams.has('key')) {
    address.searchParams.delete('key');
    history.replaceState(history.state, '', address);
  }
  if (given !== '') {
    tab.write(keyName, given);
    return given;
  }
  return tab.read(keyName) ?? offered;
}

export function keepKey(tab: Store, key: string): void {
  tab.write(keyName, key);
}

export function forgetKey(tab: Store): void {
  tab.remove(keyName);
}

/** The item named by the page's address. */
export function itemInAddress(): string | null {
  return idIn(location.hash.slice(1));
}

/** The persistent id of this browser or tab, generated on the first visit. */
export function stableId(store: Store, name: 'device' | 'session'): string {
  const known = store.read(name);
  if (known !== null && /^[0-9a-f]{32}$/.test(known)) return known;
  const id = newId();
  store.write(name, id);
  return id;
}

export function newId(): string {
  // crypto.randomUUID exists only on secure origins, and phones used for testing often open plain
  // http.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
