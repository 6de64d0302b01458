import { thumbHashToDataURL } from 'thumbhash';

/** The data URL of the blurred picture encoded in a ThumbHash, or null if there is none. */
export function placeholderOf(hash: string | null): string | null {
  if (hash === null) return null;
  try {
    return thumbHashToDataURL(Uint8Array.from(atob(hash), (letter) => letter.charCodeAt(0)));
  } catch {
    return null;
  }
}
