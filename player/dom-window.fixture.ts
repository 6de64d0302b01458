/** A window with a document, for listeners that need one but no layout. */
import { Window as LightWindow } from 'happy-dom';

type BrowserWindow = Window & typeof globalThis;

const made = new LightWindow({ url: 'https://app.example/' });

/** The classes that listeners compare with are those of this window from now on. */
export function useWindow(): BrowserWindow {
  const window = made as unknown as BrowserWindow;
  const { Element, KeyboardEvent } = window;
  Object.assign(globalThis, { Element, KeyboardEvent });
  return window;
}
