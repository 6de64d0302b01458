/** Texts in the user's language. The key of a text is its English version. */
import type { German } from './german/german.ts';

/** A text that every language has. */
export type Text = keyof German;
export type Language = 'en' | 'de' | 'es';
type Catalogue = Readonly<Partial<Record<Text, string>>>;
type Values = Readonly<Record<string, string | number>>;

export const languages: Readonly<Record<Language, string>> = {
  en: 'English',
  de: 'Deutsch',
  es: 'Español',
};

const storageKey = 'reelfeed-language';

/** The chosen language, or else the first supported one of the browser's. */
function findLanguage(): Language {
  const stored = window.localStorage.getItem(storageKey);
  const wanted = [stored ?? '', ...navigator.languages].map((tag) => tag.slice(0, 2).toLowerCase());
  return wanted.find((code): code is Language => code in languages) ?? 'en';
}

export const language: Language = findLanguage();

/** Loaded before any module with texts runs. Without a translation, a text is in English. */
const catalogue: Catalogue = await loadTexts().catch(() => ({}));
document.documentElement.lang = language;

async function loadTexts(): Promise<Catalogue> {
  if (language === 'de') return (await import('./german/german.ts')).german;
  if (language === 'es') return (await import('./spanish/spanish.ts')).spanish;
  return {};
}

/** Views keep texts, so the page is reloaded, which asks about unsaved changes. */
export function chooseLanguage(code: Language): void {
  window.localStorage.setItem(storageKey, code);
  window.location.reload();
}

const plurals = new Intl.PluralRules(language);

/**
 * A text with values in its braces: `t('{count} item|{count} items', { count })` uses the part
 * before the bar for one.
 */
export function t(text: Text, values: Values = {}): string {
  const found: string = catalogue[text] ?? text;
  const forms = found.split('|');
  const form =
    forms.length === 2 && typeof values['count'] === 'number'
      ? forms[plurals.select(values['count']) === 'one' ? 0 : 1]
      : found;
  return (form ?? found).replace(/\{(\w+)\}/g, (whole, name: string) =>
    String(values[name] ?? whole),
  );
}

/** The text for a key that comes from data, or the key itself. */
export const known = (text: string): string => catalogue[text as Text] ?? text;
