/** The headers of an attempt as they are kept and shown: bounded, with lower-case names and no secrets. */
import { hidden } from '../../../platform/http/secret-fields.ts';

export type ShownHeaders = Readonly<Record<string, string>>;

export type AttemptHeaders = {
  /** Null if no request was sent. */
  readonly request: ShownHeaders | null;
  /** Null if there was no answer, or the destination has no headers. */
  readonly response: ShownHeaders | null;
};

/** Of an attempt that was not made. */
export const noHeaders: AttemptHeaders = { request: null, response: null };

/** Headers as Node gives them. */
export type RawHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

const maxHeaders = 32;
/** Of both sides together; the request comes first. Characters, since values are Latin-1. */
const maxCharacters = 4_096;

/** Their values give access to something, whoever sends them. */
const secretNames =
  /^((proxy-)?authorization|(proxy-)?authentication-info|(set-)?cookie2?|x-api-key|x-auth-token|x-amz-security-token)$/;

/**
 * Headers that do not fit are left out whole, so that no value is shown in part.
 *
 * @param hide takes secrets out of a text, such as a token that the receiver repeats
 */
export function shownHeaders(
  sent: RawHeaders | null,
  received: RawHeaders | null,
  hide: (text: string) => string,
): AttemptHeaders {
  let left = maxCharacters;
  const shown = (headers: RawHeaders | null): ShownHeaders | null => {
    if (headers === null) return null;
    const kept: [string, string][] = [];
    for (const [rawName, raw] of Object.entries(headers)) {
      if (raw === undefined) continue;
      if (kept.length === maxHeaders) break;
      const name = rawName.toLowerCase();
      const text = (typeof raw === 'string' ? raw : raw.join(', ')).replaceAll('\0', '\uFFFD');
      const value = secretNames.test(name) ? hidden : hide(text);
      if (name.length + value.length > left) continue;
      left -= name.length + value.length;
      kept.push([name, value]);
    }
    return Object.fromEntries(kept);
  };
  return { request: shown(sent), response: shown(received) };
}

/** A copy of headers without any value. */
export function hiddenValues(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.keys(headers).map((name) => [name, hidden]));
}
