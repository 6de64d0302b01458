import { canonicalAddress } from '../egress/address.ts';

const groupsOfNetwork = 4;

/**
 * What counts as one address: an IPv4 address, or the first 64 bits of an IPv6 address, all the rest of
 * which one customer of a provider can choose. However an address is spelled, its group is the same.
 */
export function addressGroup(address: string): string {
  const canonical = canonicalAddress(address.replace(/%.*$/, ''));
  if (!canonical.includes(':')) return canonical;
  return `${canonical.split(':').slice(0, groupsOfNetwork).join(':')}::/64`;
}
