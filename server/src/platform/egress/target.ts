/** Checks the form of a URL that a customer supplied. */
import { LRUCache } from 'lru-cache';
import { bareHost } from './allow-list.ts';
import { EgressError } from './egress-errors.ts';

const maxUrlLength = 2_048;

/**
 * Parses the URL of a target. The parser normalizes unusual spellings of addresses (127.1,
 * 2130706433, full-width digits), so `host` is a name or a plain address.
 *
 * @throws EgressError (`invalid_url`) with a message for the user
 */
export function parseTarget(
  text: string,
  schemes: readonly string[],
): { readonly url: URL; readonly host: string } {
  const refuse = (reason: string): never => {
    throw new EgressError('invalid_url', reason);
  };
  if (text.length > maxUrlLength) refuse(`the URL has more than ${maxUrlLength} characters`);
  // The parser silently drops or trims these, so a URL that contains one is not what it looks like.
  if (/[\s\\\p{Cc}]/u.test(text))
    refuse('the URL contains whitespace, a backslash or a control character');
  // It would also repair `https:example.com` and `https:///example.com`.
  if (!/^[a-z]+:\/\/[^/]/i.test(text) || !URL.canParse(text)) refuse('not an absolute URL');
  const url = new URL(text);
  if (!schemes.includes(url.protocol)) {
    refuse(`the URL must start with ${schemes.map((scheme) => `${scheme}//`).join(' or ')}`);
  }
  if (url.username !== '' || url.password !== '')
    refuse('the URL contains a user name or password');
  if (url.hash !== '') refuse('the URL contains a fragment');
  if (url.hostname.endsWith('.')) refuse('the host ends with a dot');
  if (!isPossibleHost(url.hostname)) refuse('the host name is not valid');
  if (url.port === '0') refuse('port 0 is not allowed');
  return { url, host: bareHost(url.hostname) };
}

/** An address, or a name that DNS can hold (RFC 1035, 2.3.4); a URL may contain others. */
function isPossibleHost(host: string): boolean {
  if (host.startsWith('[')) return true;
  return host.length <= 253 && host.split('.').every((label) => /^[a-z\d_-]{1,63}$/i.test(label));
}

export type RequestTarget = {
  readonly protocol: string;
  readonly origin: string;
  readonly host: string;
  /** Including the query. */
  readonly path: string;
};

const remembered = new LRUCache<string, RequestTarget>({ max: 1_000 });

/**
 * Like `parseTarget`, with a cache: parsing a URL is expensive, and a few URLs are requested often.
 */
export function requestTarget(text: string, schemes: readonly string[]): RequestTarget {
  const known = remembered.get(text);
  if (known !== undefined && schemes.includes(known.protocol)) return known;
  const { url, host } = parseTarget(text, schemes);
  const { protocol, origin, pathname, search } = url;
  const target = { protocol, origin, host, path: pathname + search };
  remembered.set(text, target);
  return target;
}
