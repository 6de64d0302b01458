/** A window with a document, for listeners that need one but no layout. */
import { Window } from 'happy-dom';

const made = new Window({ url: 'https://app.example/' });

/** The classes that listeners compare with are those of this window from now on. */
export function useWindow(): Window & typeof globalThis {
  const window = made as unknown as Window & typeof globalThis;
  Object.assign(globalThis, {
    Element: window.Element,
    KeyboardEvent: window.KeyboardEvent,
  });
  return window;
}
