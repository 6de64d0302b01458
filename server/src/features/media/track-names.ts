/** Names of a file's tracks: languages and labels. */

/** A BCP 47 language and a label for menus. */
export type TrackName = { readonly language: string; readonly label: string };

const MAX_LABEL_LENGTH = 100;
/** For tracks without a declared language. */
export const UNKNOWN_LANGUAGE = 'und';

/**
 * The name of a track from its tags: an ISO 639-2 (such as `ger`) or BCP 47 language, and a title.
 * An unknown language becomes `und`.
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

/** A language's own name, such as `Deutsch`, or null if the code is not a language. */
function nameOf(code: string): string | null {
  if (code === UNKNOWN_LANGUAGE) return null;
  const name = new Intl.DisplayNames([code], { type: 'language', fallback: 'none' }).of(code);
  return name === undefined ? null : name.charAt(0).toLocaleUpperCase(code) + name.slice(1);
}

/** Appends numbers to repeated names, because names must be unique within a group of tracks. */
export function distinctNames(names: readonly TrackName[]): TrackName[] {
  const seen = new Set<string>();
  return names.map(({ language, label }) => {
    let distinct = label;
    for (let n = 2; seen.has(distinct); n += 1) distinct = `${label} ${n}`;
    seen.add(distinct);
    return { language, label: distinct };
  });
}
