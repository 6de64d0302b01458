/**
 * Determines the address of a client. This is the only code that decides which sources to trust. A
 * request from a trusted proxy names its client in a header, to which each proxy appends the
 * address of its peer. Read from the right, the first address that is not a trusted proxy is the
 * client's; all addresses before it may be forged. An untrusted peer is the client itself, no
 * matter what its headers say.
 */
import { isIP } from 'node:net';
import type { Parser } from '../settings/config-values.ts';
import { canonicalAddress, contains, parseRange, type AddressRanges } from '../egress/address.ts';

export type Client = {
  /**
   * Without a zone; an IPv4 address has four decimal parts. Empty once the connection is closed.
   */
  readonly address: string;
  /**
   * False if the address may belong to a proxy with many clients behind it: a trusted proxy that
   * names no client, or an untrusted peer that names one.
   */
  readonly isCertain: boolean;
};

export type ProxyRules = {
  readonly addressHeader: string;
  /** Named ranges, addresses and CIDR ranges. */
  readonly trustedProxies: readonly string[];
};

type RequestOrigin = {
  readonly socket: { readonly remoteAddress?: string | undefined };
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
};

const namedRanges: Readonly<Record<string, readonly string[]>> = {
  none: [],
  loopback: ['127.0.0.0/8', '::1/128'],
  private: [
    '10.0.0.0/8',
    '100.64.0.0/10',
    '169.254.0.0/16',
    '172.16.0.0/12',
    '192.168.0.0/16',
    'fc00::/7',
    'fe80::/10',
  ],
};
/** A longer chain must be forged. */
const maxProxies = 32;

/** A comma-separated list of `loopback`, `private`, `none`, addresses and CIDR ranges. */
export function proxyList(): Parser<readonly string[]> {
  return (raw) => {
    const entries = raw.split(',').map((entry) => entry.trim());
    return entries.every((entry) => rangesOf(entry) !== null)
      ? { value: entries }
      : { problem: 'a comma-separated list of loopback, private, none, addresses and CIDR ranges' };
  };
}

function rangesOf(entry: string): readonly AddressRanges[] | null {
  const texts = Object.hasOwn(namedRanges, entry) ? namedRanges[entry] : null;
  if (texts) return texts.flatMap((text) => parseRange(text) ?? []);
  const range = parseRange(
    isIP(entry) === 0 ? entry : `${entry}/${entry.includes(':') ? 128 : 32}`,
  );
  return range === null ? null : [range];
}

/** @param rules read for each request, so that they can change */
export function createClientReader(rules: ProxyRules): (request: RequestOrigin) => Client {
  let known: { entries: readonly string[]; ranges: readonly AddressRanges[] } | null = null;
  function isTrusted(address: string): boolean {
    const { trustedProxies: entries } = rules;
    if (known?.entries !== entries) {
      known = { entries, ranges: entries.flatMap((entry) => rangesOf(entry) ?? []) };
    }
    return known.ranges.some((range) => contains(range, address));
  }
  return ({ socket, headers }) => {
    const peer = plainAddress(socket.remoteAddress ?? '') ?? '';
    const given = headers[rules.addressHeader.toLowerCase()];
    const told = Array.isArray(given) ? given.join(',') : given;
    if (!isTrusted(peer)) return { address: peer, isCertain: told === undefined && peer !== '' };
    let address = peer;
    const chain = (told ?? '').split(',').slice(-maxProxies);
    for (const entry of chain.toReversed()) {
      const next = plainAddress(entry.trim());
      if (next === null) return { address, isCertain: false };
      address = next;
      if (!isTrusted(address)) return { address, isCertain: true };
    }
    return { address, isCertain: false };
  };
}

/**
 * The address in an entry, which may have a port, brackets or a zone. An IPv4-mapped IPv6 address
 * becomes plain IPv4. Null for anything else.
 */
function plainAddress(text: string): string | null {
  const bare =
    /^\[([^[\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  const address = bare.replace(/%.*$/, '').toLowerCase();
  if (isIP(address) === 0) return null;
  const canonical = canonicalAddress(address);
  return canonical.includes(':') ? address : canonical;
}
