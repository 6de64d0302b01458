import { canonicalAddress } from '../egress/address.ts';

const groupsOfNetwork = 4;

/**
 * The unit in which addresses are counted: an IPv4 address, or the first 64 bits of an IPv6
 * address, because one customer of a provider can choose the rest. All notations of an address give
 * the same group.
 */
export function addressGroup(address: string): string {
  const canonical = canonicalAddress(address.replace(/%.*$/, ''));
  if (!canonical.includes(':')) return canonical;
  return `${canonical.split(':').slice(0, groupsOfNetwork).join(':')}::/64`;
}
