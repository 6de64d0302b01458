/**
 * Derives a number from 0 to 1 from another one (the mixing of mulberry32, Tommy Ettinger, public
 * domain).
 */
export function mix(seed: number): number {
  const state = (Math.imul(Math.trunc(seed % 2 ** 32), 0x6d2b79f5) + 0x5eed) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), state | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
}
