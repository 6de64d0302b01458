/** The operator's exceptions from the egress guard (`REELFEED_EGRESS_ALLOW`). */
import { isIP } from 'node:net';
import {
  canonicalAddress,
  contains,
  isMetadataAddress,
  parseRange,
  type AddressRanges,
} from './address.ts';

export type AllowList = {
  /** True if this host name and port, or this address and port, are an exception. */
  allows(target: { host: string; port: number; address: string }): boolean;
};

type Entry =
  | { readonly kind: 'host'; readonly host: string; readonly port: number }
  | { readonly kind: 'address'; readonly address: string; readonly port: number | null }
  | { readonly kind: 'range'; readonly range: AddressRanges };

/** Lists all invalid entries in one error, so that the operator can fix them in one go. */
export class AllowListError extends Error {
  override readonly name = 'AllowListError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('; '));
    this.problems = problems;
  }
}

/**
 * Reads entries of the forms `host:port`, `192.0.2.1`, `192.0.2.1:443`, `fd00::1`, `[fd00::1]:443`,
 * `10.0.0.0/8`. A cloud's metadata service can only be allowed by its exact address, neither by a
 * range nor by a name, whose DNS record may change.
 *
 * @throws AllowListError listing all invalid entries
 */
export function parseAllowList(entries: readonly string[]): AllowList {
  const parsed = entries.map((text) => parseEntry(text.trim()));
  const problems = parsed.filter((entry) => typeof entry === 'string');
  if (problems.length > 0) throw new AllowListError(problems);
  const rules = parsed.filter((entry) => typeof entry !== 'string');

  return {
    allows(target) {
      const address = canonicalAddress(target.address);
      const host = bareHost(target.host);
      return rules.some((rule) => {
        if (rule.kind === 'address') {
          return rule.address === address && (rule.port ?? target.port) === target.port;
        }
        if (isMetadataAddress(address)) return false;
        if (rule.kind === 'range') return contains(rule.range, address);
        return rule.host === host && rule.port === target.port;
      });
    },
  };
}

/** The host in the form used for comparison: no brackets, no final dot, lower case. */
export function bareHost(host: string): string {
  return host
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
}

function parseEntry(text: string): Entry | string {
  const quoted = JSON.stringify(text);
  if (text.includes('/')) {
    const range = parseRange(text);
    return range === null
      ? `${quoted} is not a CIDR range such as 10.0.0.0/8`
      : { kind: 'range', range };
  }
  if (isIP(text) !== 0) {
    if (text.includes('%')) return `${quoted} has a zone; give only the address`;
    return { kind: 'address', address: canonicalAddress(text), port: null };
  }
  const [, bracketed, plain, digits] = /^(?:\[([^[\]]*)\]|([^:[\]]*)):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits === undefined || port < 1 || port > 65_535) {
    return `${quoted} is neither host:port, an address, [IPv6]:port nor a CIDR range`;
  }
  const host = bareHost(bracketed ?? plain ?? '');
  if (bracketed !== undefined ? isIP(host) !== 6 : !isHostName(host)) {
    return `${quoted} does not name a host`;
  }
  if (isIP(host) === 0) return { kind: 'host', host, port };
  return { kind: 'address', address: canonicalAddress(host), port };
}

/**
 * A name, or an address in the form that a URL keeps. Other spellings of addresses (127.1, 0x7f.1)
 * are rejected: a URL normalizes them, so such an entry would never match.
 */
function isHostName(host: string): boolean {
  if (!/^[a-z\d._-]+$/.test(host)) return false;
  return URL.canParse(`https://${host}/`) && new URL(`https://${host}/`).hostname === host;
}
