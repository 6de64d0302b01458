/** What the tracks of a file are called: their languages and labels. All functions are pure. */

/** BCP 47, and what a menu shows. */
export type TrackName = { readonly language: string; readonly label: string };

const MAX_LABEL_LENGTH = 100;
/** Of a track whose language the file does not say. */
export const UNKNOWN_LANGUAGE = 'und';

/**
 * The name of a track by its tags: a language of ISO 639-2, such as `ger`, or of BCP 47, and a title.
 * What is no known language is `und`.
 */
export function trackName(
  tags: { readonly language?: string | undefined; readonly title?: string | undefined },
  fallback: string,
): TrackName {
  const language = knownLanguage(tags.language ?? '');
  const title = [...(tags.title ?? '').replace(/[\p{Cc}"]/gu, ' ').trim()]
    .slice(0, MAX_LABEL_LENGTH)
    .join('');
  return { language, label: title || (nameOf(language) ?? fallback) };
}

function knownLanguage(tag: string): string {
  try {
    const [code = UNKNOWN_LANGUAGE] = Intl.getCanonicalLocales(tag.trim().replaceAll('_', '-'));
    return nameOf(code) === null ? UNKNOWN_LANGUAGE : code;
  } catch {
    return UNKNOWN_LANGUAGE;
  }
}

/** What a language calls itself, such as `Deutsch`; null for what is none. */
function nameOf(code: string): string | null {
  if (code === UNKNOWN_LANGUAGE) return null;
  const name = new Intl.DisplayNames([code], { type: 'language', fallback: 'none' }).of(code);
  return name === undefined ? null : name.charAt(0).toLocaleUpperCase(code) + name.slice(1);
}

/** The names with a number behind those that would come twice: a group of tracks has no two equal ones. */
export function distinctNames(names: readonly TrackName[]): TrackName[] {
  const seen = new Set<string>();
  return names.map(({ language, label }) => {
    let distinct = label;
    for (let n = 2; seen.has(distinct); n += 1) distinct = `${label} ${n}`;
    seen.add(distinct);
    return { language, label: distinct };
  });
}
