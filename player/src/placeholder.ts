import { thumbHashToDataURL } from 'thumbhash';

/** The address of the blurred picture that a ThumbHash stands for; null where there is none. */
export function placeholderOf(hash: string | null): string | null {
  if (hash === null) return null;
  try {
    return thumbHashToDataURL(Uint8Array.from(atob(hash), (letter) => letter.charCodeAt(0)));
  } catch {
    return null;
  }
}
