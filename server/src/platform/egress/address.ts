/**
 * The addresses that an outgoing request may reach: global unicast and nothing else. The ranges are
 * those of the IANA special-purpose address registries for IPv4 and IPv6 (RFC 6890 and its
 * updates), judged by their purpose: a range whose addresses don't belong to hosts on the public
 * internet is refused, even if a registry calls it reachable (anycast sinks, retired tunnels).
 */
import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';

/**
 * A `BlockList` and its family, because a list of IPv4 ranges also matches mapped IPv6 addresses.
 */
export type AddressRanges = { readonly family: 'ipv4' | 'ipv6'; readonly list: BlockList };

const refusedIpv4 = ranges([
  '0.0.0.0/8', // This network; 0.0.0.0 connects to the machine itself.
  '10.0.0.0/8', // Private.
  '100.64.0.0/10', // Carrier-grade NAT.
  '127.0.0.0/8', // Loopback.
  '168.63.129.16/32', // A cloud's metadata service at a public address.
  '169.254.0.0/16', // Link-local, with most metadata services.
  '172.16.0.0/12', // Private.
  '192.0.0.0/24', // Protocol assignments.
  '192.0.2.0/24', // Documentation.
  '192.31.196.0/24', // AS112 anycast.
  '192.52.193.0/24', // AMT relays.
  '192.88.99.0/24', // 6to4 relays.
  '192.168.0.0/16', // Private.
  '192.175.48.0/24', // AS112 anycast.
  '198.18.0.0/15', // Benchmarking.
  '198.51.100.0/24', // Documentation.
  '203.0.113.0/24', // Documentation.
  '224.0.0.0/4', // Multicast.
  '240.0.0.0/4', // Reserved, with the broadcast address.
]);

/**
 * Only 2000::/3 is assigned as global unicast. Everything else is refused: unspecified, loopback,
 * IPv4-compatible, translated, discard, SRv6, unique local, link-local, site-local, multicast. The
 * list below has the refused ranges inside it.
 */
const globalIpv6 = ranges(['2000::/3']);
const refusedIpv6 = ranges([
  '2001::/23', // Teredo, benchmarking, ORCHID and the other protocol assignments.
  '2001:db8::/32', // Documentation.
  '2002::/16', // 6to4, which carries an IPv4 address to a relay.
  '2620:4f:8000::/48', // AS112 anycast.
  '3ffe::/16', // The retired 6bone.
  '3fff::/20', // Documentation.
]);

const mappedIpv4 = ranges(['::ffff:0:0/96']);

/**
 * Metadata services of clouds. They hand out credentials, so neither a range nor a name can allow
 * them.
 */
const metadataAddresses = new Set(
  ['169.254.169.254', '168.63.129.16', '100.100.100.200', '192.0.0.192', 'fd00:ec2::254'].map(
    canonicalAddress,
  ),
);

/**
 * The well-known NAT64 prefix. The local-use prefix 64:ff9b:1::/48 is rejected like other
 * special-purpose addresses.
 */
const nat64 = ranges(['64:ff9b::/96']);

/**
 * Returns true for an address that a request may reach without an exception. Takes IPv4 in four
 * decimal parts or IPv6 without a zone, and returns false for anything else. An IPv4 address
 * embedded in an IPv6 address is judged on its own if the IPv6 form still leads to it (mapped,
 * NAT64, ISATAP).
 */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !contains(refusedIpv4, address);
  const carried = carriedIpv4(address);
  if (contains(mappedIpv4, address) || contains(nat64, address)) return isPublicAddress(carried);
  if (!contains(globalIpv6, address) || contains(refusedIpv6, address)) return false;
  return !isIsatap(address) || isPublicAddress(carried);
}

/** Returns true for a cloud's metadata service, in any notation. */
export function isMetadataAddress(address: string): boolean {
  return metadataAddresses.has(canonicalAddress(address));
}

/**
 * The canonical form of an address, for comparison: a mapped IPv4 address becomes plain IPv4, and
 * IPv6 becomes eight groups without `::`. Other text is returned unchanged.
 */
export function canonicalAddress(address: string): string {
  const bytes = addressBytes(address);
  if (bytes === null) return address;
  if (bytes.length === 4) return bytes.join('.');
  if (contains(mappedIpv4, address)) return carriedIpv4(address);
  const groups = Array.from({ length: 8 }, (_, index) => bytes.slice(index * 2, index * 2 + 2));
  return groups.map(([high = 0, low = 0]) => ((high << 8) | low).toString(16)).join(':');
}

/**
 * Returns four or sixteen bytes, or null for anything but a plain IP address. Node checks the
 * spelling, so short, octal and hexadecimal forms, which programs interpret differently, are
 * rejected.
 */
export function addressBytes(address: string): number[] | null {
  if (isIPv4(address)) return address.split('.').map(Number);
  if (!isIPv6(address) || address.includes('%')) return null;
  const hex = address.replace(/[\d.]+\.[\d.]+$/, (dotted) => {
    const [a = 0, b = 0, c = 0, d = 0] = dotted.split('.').map(Number);
    return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  });
  const [before = [], after = []] = hex.split('::').map((part) => part.split(':').filter(Boolean));
  const gap = Array.from({ length: 8 - before.length - after.length }, () => '0');
  return [...before, ...gap, ...after].flatMap((group) => {
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}

/** Parses `10.0.0.0/8` or `fd00::/8`; returns null if the text is not a CIDR range. */
export function parseRange(text: string): AddressRanges | null {
  const [address = '', length = '', ...rest] = text.split('/');
  if (isIP(address) === 0 || address.includes('%') || rest.length > 0) return null;
  if (!/^\d{1,3}$/.test(length) || Number(length) > (isIPv4(address) ? 32 : 128)) return null;
  return ranges([text]);
}

/**
 * Returns whether an address is in one of these ranges. Always false for an address of the other
 * family or with a zone.
 */
export function contains({ family, list }: AddressRanges, address: string): boolean {
  const isOfFamily = family === 'ipv4' ? isIPv4(address) : isIPv6(address);
  return isOfFamily && !address.includes('%') && list.check(address, family);
}

/** The IPv4 address in the last four bytes of an IPv6 address. */
function carriedIpv4(address: string): string {
  return addressBytes(address)?.slice(-4).join('.') ?? '';
}

/** ISATAP puts 0000:5efe or 0200:5efe before the IPv4 address, under any prefix (RFC 5214). */
function isIsatap(address: string): boolean {
  const [first = 0, ...rest] = addressBytes(address)?.slice(8, 12) ?? [];
  return (first & 0xfd) === 0 && rest[0] === 0 && rest[1] === 0x5e && rest[2] === 0xfe;
}

/** @param texts CIDR ranges of one family */
function ranges(texts: readonly string[]): AddressRanges {
  const family = texts.every((text) => text.includes(':')) ? 'ipv6' : 'ipv4';
  const list = new BlockList();
  for (const text of texts) {
    const [address = '', length] = text.split('/');
    list.addSubnet(address, Number(length), family);
  }
  return { family, list };
}
