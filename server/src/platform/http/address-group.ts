import { isIPv6 } from 'node:net';

const groupsOfNetwork = 4;

/**
 * What counts as one address: an IPv4 address, or the first 64 bits of an IPv6 address, all the rest of
 * which one customer of a provider can choose.
 */
export function addressGroup(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.split('::');
  const before = head.split(':').filter((group) => group !== '');
  const after = tail === undefined ? [] : tail.split(':');
  const missing = Math.max(0, 8 - before.length - after.length);
  const groups = [
    ...before,
    ...Array<string>(tail === undefined ? 0 : missing).fill('0'),
    ...after,
  ];
  return `${groups.slice(0, groupsOfNetwork).join(':')}::/64`;
}
