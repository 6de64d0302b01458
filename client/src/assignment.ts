/**
 * Assigns variants: a pure function shared by the service and this library, so that both give the
 * same result. Nothing is stored, and only the inputs below can change a unit's variant.
 *
 * Two independent hashes of the unit decide. The gate decides whether the unit takes part: it does
 * if its position in [0, 1) is in one of the experiment's ranges. The split decides the variant.
 * With a single hash, the units that enter first would all get the first variant.
 *
 * 1. Growing a range adds units without moving any, because the split does not depend on the
 *    ranges.
 * 2. Experiments with different salts are independent of each other.
 * 3. A variant without traffic is never assigned; the last one with traffic absorbs rounding.
 */

export type Device = 'ios' | 'android' | 'web';

/** The audience of an experiment. An empty or missing list matches everyone. */
export type Targeting = {
  /** ISO 3166-1 alpha-2, in upper case. */
  readonly countries?: readonly string[];
  readonly devices?: readonly Device[];
  readonly userSegments?: readonly string[];
};

/** The caller's current knowledge of the viewer. */
export type Audience = {
  readonly country?: string | null;
  readonly device?: Device | null;
  readonly segments?: readonly string[];
};

export type AssignmentPlan = {
  /** Mutually exclusive experiments share this salt and have ranges that do not overlap. */
  readonly gateSalt: string;
  readonly splitSalt: string;
  /** Parts of [0, 1). The lower bound is included, the upper bound excluded. */
  readonly ranges: readonly (readonly [from: number, to: number])[];
  readonly variants: readonly { readonly id: string; readonly traffic: number }[];
  readonly targeting: Targeting;
  /** Units below this share of a separate gate see no experiment at all. */
  readonly holdout?: { readonly salt: string; readonly share: number };
};

/** The id of the unit's variant, or null if it does not take part. */
export function assignVariant(
  plan: AssignmentPlan,
  unit: string,
  audience: Audience,
): string | null {
  if (!isTargeted(plan.targeting, audience)) return null;
  const { holdout } = plan;
  if (holdout !== undefined && positionOf(holdout.salt, unit) < holdout.share) return null;
  const gate = positionOf(plan.gateSalt, unit);
  if (!plan.ranges.some(([from, to]) => gate >= from && gate < to)) return null;
  return pickVariant(plan.variants, positionOf(plan.splitSalt, unit));
}

/** Whether an experiment targets this audience. Unknown attributes match no list. */
export function isTargeted(targeting: Targeting, audience: Audience): boolean {
  const { countries = [], devices = [], userSegments = [] } = targeting;
  const { country, device, segments = [] } = audience;
  return (
    (countries.length === 0 || (country != null && countries.includes(country.toUpperCase()))) &&
    (devices.length === 0 || (device != null && devices.includes(device))) &&
    (userSegments.length === 0 || userSegments.some((segment) => segments.includes(segment)))
  );
}

function pickVariant(variants: AssignmentPlan['variants'], position: number): string | null {
  let end = 0;
  let last: string | null = null;
  for (const { id, traffic } of variants) {
    if (!(traffic > 0)) continue;
    end += traffic;
    last = id;
    if (position < end) return id;
  }
  return last;
}

const encoder = new TextEncoder();
/** Reused, because each assignment hashes twice. */
const scratch = new Uint8Array(1_024);

function encode(text: string): Uint8Array {
  // A UTF-16 code unit takes at most three bytes.
  if (text.length * 3 > scratch.length) return encoder.encode(text);
  return scratch.subarray(0, encoder.encodeInto(text, scratch).written);
}

/** The unit's place in [0, 1), uniform over units, in steps of 2^-53. Salts contain no spaces. */
export function positionOf(salt: string, unit: string): number {
  const bytes = encode(`${salt} ${unit}`);
  const upper = murmur3(bytes, 0x9747b28c) >>> 6;
  const lower = murmur3(bytes, 0x3c6ef372) >>> 5;
  return (upper * 0x800_0000 + lower) / 0x20_0000_0000_0000;
}

/** MurmurHash3_x86_32 by Austin Appleby, public domain. */
export function murmur3(bytes: Uint8Array, seed: number): number {
  let state = seed | 0;
  const whole = bytes.length & ~3;
  for (let at = 0; at < whole; at += 4) {
    const block = byte(bytes, at) | (byte(bytes, at + 1) << 8) | (byte(bytes, at + 2) << 16);
    state ^= scramble(block | (byte(bytes, at + 3) << 24));
    state = (Math.imul(rotate(state, 13), 5) + 0xe654_6b64) | 0;
  }
  const tail = byte(bytes, whole) | (byte(bytes, whole + 1) << 8) | (byte(bytes, whole + 2) << 16);
  if (whole < bytes.length) state ^= scramble(tail);
  state ^= bytes.length;
  state = Math.imul(state ^ (state >>> 16), 0x85eb_ca6b);
  state = Math.imul(state ^ (state >>> 13), 0xc2b2_ae35);
  return (state ^ (state >>> 16)) >>> 0;
}

function byte(bytes: Uint8Array, index: number): number {
  return bytes[index] ?? 0;
}

function rotate(value: number, by: number): number {
  return (value << by) | (value >>> (32 - by));
}

function scramble(block: number): number {
  return Math.imul(rotate(Math.imul(block, 0xcc9e_2d51), 15), 0x1b87_3593);
}
