import { type Texts } from './texts.ts';

/** Compares by value, because frameworks pass a new inline object on each render. */
export function areSame(texts: Partial<Texts>, others: Partial<Texts>): boolean {
  const [one, other] = [new Map(Object.entries(texts)), new Map(Object.entries(others))];
  if (one.size !== other.size) return false;
  return [...one].every(([name, text]) => {
    const same = other.get(name);
    if (typeof text === 'function') return String(text) === String(same);
    return text === same || (Array.isArray(text) && JSON.stringify(text) === JSON.stringify(same));
  });
}

/** Without `src`, the service is the origin of this file. */
export function serviceUrl(src: string | null): URL {
  const url = src === null ? new URL('../', import.meta.url) : new URL(src, document.baseURI);
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  url.search = '';
  url.hash = '';
  return url;
}

/** A page may set properties before the module has upgraded the element. */
export function takeEarlyProperties(host: HTMLElement, names: readonly string[]): void {
  for (const name of names) {
    if (!Object.prototype.hasOwnProperty.call(host, name)) continue;
    const value: unknown = Reflect.get(host, name);
    Reflect.deleteProperty(host, name);
    Reflect.set(host, name, value);
  }
}

const sheets = new Map<string, CSSStyleSheet>();

/**
 * A constructed style sheet needs no permission from a page's content security policy. Safari
 * before 16.4 lacks this API and loads the same styles as a file.
 */
export function addStyles(root: ShadowRoot, css: string, file: string): void {
  if ('adoptedStyleSheets' in root) {
    const sheet = sheets.get(file) ?? new CSSStyleSheet();
    if (!sheets.has(file)) sheet.replaceSync(css);
    sheets.set(file, sheet);
    root.adoptedStyleSheets = [sheet];
    return;
  }
  const link = document.createElement('link');
  link.rel = 'stylesheet';
  link.href = new URL(`./${file}`, import.meta.url).href;
  (root as ShadowRoot).prepend(link);
}
