/**
 * Rate limits for requests without a secret key: per address and kind of route, in any 60 seconds.
 * Each process counts separately.
 *
 * Memory use is fixed, no matter how many addresses there are: counts are kept in a count-min
 * sketch (Cormode and Muthukrishnan 2005) of six-second slots. Every slot that overlaps the window
 * counts in full, and a cell may include requests of other addresses, but it never undercounts, so
 * no 60-second window exceeds the limit. An address may be rejected up to six seconds early or,
 * with a probability of `(busy / 65,536)⁴`, because `busy` others are at their limits. The cells of
 * an address depend on a per-process salt, so an attacker cannot target another address. Rejected
 * requests are not counted, so an address is not rejected for longer than necessary.
 */
import { hash, randomBytes } from 'node:crypto';
import { addressGroup } from './address-group.ts';
import { ApiError } from './errors.ts';

export const limitedKinds = ['pages', 'viewers', 'media'] as const;
/**
 * The kind of a route: `viewers` for calls of apps with a publishable key and for the player,
 * `media` for files of items and for uploads, `pages` for everything else without a key.
 */
export type LimitedKind = (typeof limitedKinds)[number];

/** Requests in any 60 seconds; 0: no limit. Read on each request, so that the limits can change. */
export type AddressLimits = Readonly<Record<LimitedKind, number>>;

/**
 * Counts a request from an address.
 *
 * @throws ApiError RATE_LIMITED
 */
export type LimitAddress = (kind: LimitedKind, address: string) => void;

/** A cell counts to 65,535. */
export const maxAddressLimit = 60_000;

const windowSeconds = 60;
const slotMs = 6_000;
const slots = (windowSeconds * 1_000) / slotMs + 1;
const rows = 4;
const cellsOfRow = 2 ** 16;
const maxCount = 2 ** 16 - 1;

export function createAddressLimits(
  limits: AddressLimits,
  onRefused: (kind: LimitedKind) => void,
  clock: () => number = () => performance.now(),
): LimitAddress {
  let requests: RecentRequests | null = null;
  return (kind, address) => {
    const limit = limits[kind];
    if (limit === 0) return;
    requests ??= new RecentRequests();
    const retryAfterMs = requests.take(`${kind} ${addressGroup(address)}`, limit, clock());
    if (retryAfterMs === 0) return;
    onRefused(kind);
    throw new ApiError('RATE_LIMITED', {
      message: `Each address is limited to ${limit} such requests in ${windowSeconds} seconds.`,
      headers: {
        'retry-after': String(Math.ceil(retryAfterMs / 1_000)),
        // Players on pages of other origins must be able to read why a file was refused.
        ...(kind === 'media' && { 'access-control-allow-origin': '*' }),
      },
    });
  };
}

/** The counts of the last minute, by name. */
export class RecentRequests {
  readonly #salt = randomBytes(16).toString('hex');
  readonly #counts = Array.from({ length: slots }, () => new Uint16Array(rows * cellsOfRow));
  #slot = 0;

  get sizeBytes(): number {
    return this.#counts.reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  /** @returns 0 if the request is counted; otherwise the time until the next one is allowed */
  take(name: string, limit: number, nowMs: number): number {
    this.#moveTo(Math.floor(nowMs / slotMs));
    const cells = this.#cellsOf(name);
    const waits = cells.map((cell) => this.#slotsUntil(cell, limit));
    const wait = Math.min(...waits);
    if (wait > 0) return (this.#slot + wait) * slotMs - nowMs;
    const current = this.#countsOf(this.#slot);
    for (const cell of cells) current[cell] = Math.min(maxCount, (current[cell] ?? 0) + 1);
    return 0;
  }

  /** The number of slots until a cell is below the limit. */
  #slotsUntil(cell: number, limit: number): number {
    let sum = 0;
    for (let age = 0; age < slots; age += 1) {
      sum += this.#countsOf(this.#slot - age)[cell] ?? 0;
      // Once the slot of this age expires, the newer slots alone are below the limit.
      if (sum >= limit) return slots - age;
    }
    return 0;
  }

  #countsOf(slot: number): Uint16Array {
    return this.#counts[((slot % slots) + slots) % slots] as Uint16Array;
  }

  #moveTo(slot: number): void {
    if (slot <= this.#slot) return;
    for (let next = Math.max(this.#slot, slot - slots) + 1; next <= slot; next += 1) {
      this.#countsOf(next).fill(0);
    }
    this.#slot = slot;
  }

  #cellsOf(name: string): number[] {
    const digest = hash('sha256', this.#salt + name, 'buffer');
    return Array.from(
      { length: rows },
      (_, row) => row * cellsOfRow + digest.readUInt16LE(row * 2),
    );
  }
}
