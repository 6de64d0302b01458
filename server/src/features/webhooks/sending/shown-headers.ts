/**
 * The stored and shown headers of an attempt: bounded, with lower-case names and without secrets.
 */
import { hidden } from '../../../platform/http/secret-fields.ts';

export type ShownHeaders = Readonly<Record<string, string>>;

export type AttemptHeaders = {
  /** Null if no request was sent. */
  readonly request: ShownHeaders | null;
  /** Null if there was no response, or the destination has no headers. */
  readonly response: ShownHeaders | null;
};

export const noHeaders: AttemptHeaders = { request: null, response: null };

/** Headers in Node's format. */
export type RawHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

const maxHeaders = 32;
/**
 * Limit for request and response together, request first. In characters, since values are Latin-1.
 */
const maxCharacters = 4_096;

/** Headers whose values grant access, in either direction. */
const secretNames =
  /^((proxy-)?authorization|(proxy-)?authentication-info|(set-)?cookie2?|x-api-key|x-auth-token|x-amz-security-token)$/;

/**
 * Headers that do not fit are omitted entirely, so that no value is truncated.
 * @param hide redacts secrets from a text, such as a token that the receiver repeats
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

export function hiddenValues(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.keys(headers).map((name) => [name, hidden]));
}
