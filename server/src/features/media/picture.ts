/** Facts about a picture that the API shows, computed from its size. */

type ResolutionTier = 'audio-only' | 'SD' | 'HD' | 'FHD' | 'UHD';

/** A frame rate as a fraction, because 30000/1001 has no exact decimal form. */
export type FrameRate = {
  readonly num: number;
  readonly den: number;
};

/** Lower bounds in pixels, highest first. */
const TIERS: readonly { readonly tier: ResolutionTier; readonly pixels: number }[] = [
  { tier: 'UHD', pixels: 8_294_400 },
  { tier: 'FHD', pixels: 2_073_600 },
  { tier: 'HD', pixels: 921_600 },
];

/** Cropped encodes miss a bound by a few rows, so a size within 2 % below it still reaches it. */
const TIER_TOLERANCE = 0.02;

const COMMON_RATIOS: readonly (readonly [number, number])[] = [
  [9, 16],
  [16, 9],
  [1, 1],
  [4, 5],
  [3, 4],
  [4, 3],
  [2, 3],
  [3, 2],
  [21, 9],
];
const RATIO_TOLERANCE = 0.01;

const COMMON_FRAME_RATES: readonly FrameRate[] = [
  { num: 12, den: 1 },
  { num: 25, den: 2 },
  { num: 15, den: 1 },
  { num: 20, den: 1 },
  { num: 24000, den: 1001 },
  { num: 24, den: 1 },
  { num: 25, den: 1 },
  { num: 30000, den: 1001 },
  { num: 30, den: 1 },
  { num: 48000, den: 1001 },
  { num: 48, den: 1 },
  { num: 50, den: 1 },
  { num: 60000, den: 1001 },
  { num: 60, den: 1 },
  { num: 120, den: 1 },
];

/** Error that rounding timestamps to milliseconds causes in a rate. */
const ROUNDED_RATE_TOLERANCE = 0.0125;
/** Recorders with an unstable clock stay within this of their nominal rate. */
const MEANT_RATE_TOLERANCE = 0.03;
const MIN_OUTPUT_RATE = 10;
/** Above the rates of slow-motion cameras, nobody notices which frames are dropped. */
const MAX_DIVIDED_RATE = 240 * (1 + MEANT_RATE_TOLERANCE);
/** Fraction of the cap that a divided rate must retain. */
const MIN_KEPT = 0.75;

/** The tier of a picture's size in pixels after rotation; null means no video. */
export function resolutionTier(size: { width: number; height: number } | null): ResolutionTier {
  if (size === null) return 'audio-only';
  const pixels = size.width * size.height;
  return TIERS.find((entry) => pixels >= entry.pixels * (1 - TIER_TOLERANCE))?.tier ?? 'SD';
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

/**
 * The aspect ratio, such as "9:16": the nearest common ratio within 1 %, otherwise the reduced
 * fraction.
 */
export function aspectRatio(width: number, height: number): string {
  const ratio = width / height;
  const distance = ([w, h]: readonly [number, number]): number => Math.abs(ratio / (w / h) - 1);
  const nearest = COMMON_RATIOS.reduce((best, next) =>
    distance(next) < distance(best) ? next : best,
  );
  if (distance(nearest) <= RATIO_TOLERANCE) return nearest.join(':');
  const divisor = greatestCommonDivisor(width, height);
  return `${width / divisor}:${height / divisor}`;
}

/** Frames per second, rounded to three decimals as the API shows it. */
export function roundFrameRate(rate: FrameRate): number {
  return Math.round((rate.num / rate.den) * 1000) / 1000;
}

/**
 * The rate to display for a source. Millisecond timestamps turn 30 into 30.303, so a rate close to
 * a common one is shown as that.
 */
export function shownFrameRate(framesPerSecond: number): number {
  const { rate, distance } = nearestCommonRate(framesPerSecond);
  return distance <= ROUNDED_RATE_TOLERANCE
    ? roundFrameRate(rate)
    : roundFrameRate({ num: framesPerSecond, den: 1 });
}

/** Relative distance of a rate from the nearest common one. */
export function distanceToCommonRate(framesPerSecond: number): number {
  return nearestCommonRate(framesPerSecond).distance;
}

function nearestCommonRate(framesPerSecond: number): { rate: FrameRate; distance: number } {
  return COMMON_FRAME_RATES.map((rate) => ({
    rate,
    distance: Math.abs(framesPerSecond / (rate.num / rate.den) - 1),
  })).reduce((best, next) => (next.distance < best.distance ? next : best));
}

/**
 * The constant rate to encode at, at most `maxFramesPerSecond`.
 *
 * A rate above the cap is divided by an integer, which drops frames evenly. If that would keep less
 * than three quarters of what the cap allows, the cap itself is used, although the dropped frames
 * are then uneven. An uncommon rate is rounded up to an integer, so that two seconds hold a whole
 * number of frames and every segment can start with a key frame.
 */
export function outputFrameRate(framesPerSecond: number, maxFramesPerSecond: number): FrameRate {
  const rate = Math.max(framesPerSecond, MIN_OUTPUT_RATE);
  const divisor =
    rate > MAX_DIVIDED_RATE
      ? 1
      : Math.ceil(rate / (maxFramesPerSecond * (1 + MEANT_RATE_TOLERANCE)));
  const divided = rate / divisor;
  const target = divisor > 1 && divided < maxFramesPerSecond * MIN_KEPT ? Infinity : divided;
  const { rate: common, distance } = nearestCommonRate(Math.min(target, maxFramesPerSecond));
  if (distance <= MEANT_RATE_TOLERANCE && common.num / common.den <= maxFramesPerSecond) {
    return common;
  }
  return { num: Math.min(Math.ceil(target), maxFramesPerSecond), den: 1 };
}
