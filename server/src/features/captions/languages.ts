const english = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' });

/** Normalizes an ISO 639-1 language code to lower case; null if it does not exist. */
export function parseLanguage(text: string): string | null {
  const code = text.toLowerCase();
  return /^[a-z]{2}$/.test(code) && english.of(code) !== undefined ? code : null;
}

/** A language's own name, such as `Deutsch`. */
export function nameOfLanguage(code: string): string {
  const name = new Intl.DisplayNames([code], { type: 'language' }).of(code) ?? code;
  return name.charAt(0).toLocaleUpperCase(code) + name.slice(1);
}
