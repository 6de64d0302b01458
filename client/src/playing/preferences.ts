import { type Store } from './store.ts';

/** The viewer's preferences for all clips, stored for the next visit. */
export class Preferences {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  get hasSound(): boolean {
    return this.#store.read('sound') === 'on';
  }

  set hasSound(isOn: boolean) {
    this.#store.write('sound', isOn ? 'on' : 'off');
  }

  /** From 0 to 1. */
  get volume(): number {
    const kept = Number(this.#store.read('volume') ?? 1);
    return kept >= 0 && kept <= 1 ? kept : 1;
  }

  set volume(volume: number) {
    this.#store.write('volume', String(volume));
  }

  get hasCaptions(): boolean {
    return this.#store.read('captions') === 'on';
  }

  set hasCaptions(isOn: boolean) {
    this.#store.write('captions', isOn ? 'on' : 'off');
  }
}
