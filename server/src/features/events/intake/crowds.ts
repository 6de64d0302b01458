/**
 * Measures how many viewers share a network today, so that ranking can distinguish an audience from
 * a machine that makes up viewers. Addresses are hashed with a daily salt that this process never
 * stores, so after that day it is impossible to tell who was where. The log only stores the
 * resulting small number.
 *
 * Each process counts separately. Memory use is fixed: viewers are remembered as 32-bit
 * fingerprints, and networks are counted in a count-min sketch (Cormode and Muthukrishnan 2005),
 * which may overcount if very many networks are busy, but never undercounts.
 */
import { createHash, randomBytes } from 'node:crypto';
import { addressGroup } from '../../../platform/http/address-group.ts';
import type { Client } from '../../../platform/http/client-address.ts';
import { isPublicAddress } from '../../../platform/egress/address.ts';
import { dayMs } from '../../../platform/values/time.ts';

/** Up to this many viewers on one address, or on one network, are not a crowd. */
const viewersOfAddress = 16;
const viewersOfNetwork = 128;
const maxCrowd = 15;

const sketchSlots = 2 ** 16;

export class Crowds {
  readonly #fingerprintSlots: number;
  /** When more are in use, a free slot is hard to find, so new viewers are no longer counted. */
  readonly #maxFingerprints: number;
  #day = -1;
  #salt = '';
  #fingerprints = new Uint32Array(0);
  #known = 0;
  #sketch = [new Uint16Array(0), new Uint16Array(0)] as const;

  /** @param fingerprintSlots four bytes each; half of them are used */
  constructor(fingerprintSlots = 2 ** 20) {
    this.#fingerprintSlots = fingerprintSlots;
    this.#maxFingerprints = fingerprintSlots / 2;
  }

  /**
   * The crowding of the viewer's network: 0 up to its share of viewers, plus 1 for each doubling
   * beyond that. A returning viewer counts once.
   */
  of(organizationId: string, viewer: string, address: string, nowMs: number): number {
    this.#startDay(Math.floor(nowMs / dayMs));
    const own = addressGroup(address);
    return Math.max(
      this.#crowdOf(`${organizationId} ${own}`, viewer, viewersOfAddress),
      this.#crowdOf(`${organizationId} ${networkOf(own)}`, viewer, viewersOfNetwork),
    );
  }

  #crowdOf(network: string, viewer: string, share: number): number {
    const place = this.#hash(network);
    const isNew = this.#remember(this.#hash(`${network} ${viewer}`));
    let count = Infinity;
    for (const [row, counts] of this.#sketch.entries()) {
      const slot = place.readUInt32LE(row * 4) % sketchSlots;
      const before = counts[slot] ?? 0;
      const after = isNew ? Math.min(65_535, before + 1) : before;
      counts[slot] = after;
      count = Math.min(count, after);
    }
    return Math.min(maxCrowd, Math.max(0, Math.ceil(Math.log2(count / share))));
  }

  /** @returns whether the viewer is new on this network */
  #remember(hash: Buffer): boolean {
    const fingerprint = hash.readUInt32LE(4) || 1;
    const first = hash.readUInt32LE(0);
    for (let step = 0; step < 8; step += 1) {
      const slot = (first + step) % this.#fingerprintSlots;
      const found = this.#fingerprints[slot];
      if (found === fingerprint) return false;
      if (found !== 0) continue;
      if (this.#known >= this.#maxFingerprints) return false;
      this.#fingerprints[slot] = fingerprint;
      this.#known += 1;
      return true;
    }
    return false;
  }

  #startDay(day: number): void {
    if (day === this.#day) return;
    this.#day = day;
    this.#salt = randomBytes(16).toString('hex');
    this.#fingerprints = new Uint32Array(this.#fingerprintSlots);
    this.#known = 0;
    this.#sketch = [new Uint16Array(sketchSlots), new Uint16Array(sketchSlots)];
  }

  #hash(text: string): Buffer {
    return createHash('sha256').update(this.#salt).update(text).digest();
  }
}

/** The network of an address group: 24 bits of an IPv4 address, 48 bits of an IPv6 address. */
function networkOf(group: string): string {
  return group.includes(':')
    ? `${group.split(':').slice(0, 3).join(':')}::/48`
    : `${group.split('.').slice(0, 3).join('.')}.0/24`;
}

/** The public address of the viewer's device, or null if unknown. */
export function viewerAddress({ address, isCertain }: Client): string | null {
  return isCertain && isPublicAddress(address) ? address : null;
}
