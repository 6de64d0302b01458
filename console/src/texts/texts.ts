/**
 * Texts in the language of the reader. The key of a text is the text in English.
 */
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

/** The language that was chosen, or else the first of the browser's that there is. */
function findLanguage(): Language {
  const stored = window.localStorage.getItem(storageKey);
  const wanted = [stored ?? '', ...navigator.languages].map((tag) => tag.slice(0, 2).toLowerCase());
  return wanted.find((code): code is Language => code in languages) ?? 'en';
}

export const language: Language = findLanguage();

/** Loaded before any module that has texts is run. A text without a translation is in English. */
const catalogue: Catalogue = await loadTexts().catch(() => ({}));
document.documentElement.lang = language;

async function loadTexts(): Promise<Catalogue> {
  if (language === 'de') return (await import('./german/german.ts')).german;
  if (language === 'es') return (await import('./spanish/spanish.ts')).spanish;
  return {};
}

/** Views keep texts, so the page is opened again, which asks about unsaved changes. */
export function chooseLanguage(code: Language): void {
  window.localStorage.setItem(storageKey, code);
  window.location.reload();
}

const plurals = new Intl.PluralRules(language);

/**
 * A text with values in its braces: `t('{count} item|{count} items', { count })` takes the part
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

/** The text of a key that comes from data, or the key itself where there is none. */
export const known = (text: string): string => catalogue[text as Text] ?? text;
