const english = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' });

/** A language of ISO 639-1 in lower case; null when there is no such code. */
export function parseLanguage(text: string): string | null {
  const code = text.toLowerCase();
  return /^[a-z]{2}$/.test(code) && english.of(code) !== undefined ? code : null;
}

/** What a language calls itself, such as `Deutsch`. */
export function nameOfLanguage(code: string): string {
  const name = new Intl.DisplayNames([code], { type: 'language' }).of(code) ?? code;
  return name.charAt(0).toLocaleUpperCase(code) + name.slice(1);
}
