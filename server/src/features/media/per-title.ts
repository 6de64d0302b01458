import type { Rung, VideoRung } from './ladder.ts';

/**
 * Below this bit rate, a smaller rendition saves nothing noticeable: audio alone takes about as
 * much.
 */
const SMALL_BPS = 150_000;
/** Exponent with which the bit rate grows with the number of pixels at constant quality. */
const PIXEL_EXPONENT = 0.75;

/**
 * Drops the renditions that a title does not need. Its first rendition, made at constant quality,
 * shows how many bits its pictures take. If that is already small, neither smaller renditions nor
 * AV1 versions are made.
 * @param videoBps average video bit rate of `first`
 */
export function withoutNeedless(
  remaining: readonly Rung[],
  first: VideoRung,
  videoBps: number,
): Rung[] {
  const pixels = ({ height, width }: VideoRung): number => height * width;
  const expected = (rung: VideoRung): number =>
    videoBps * (pixels(rung) / pixels(first)) ** PIXEL_EXPONENT;
  const h264 = [first, ...remaining].filter(
    (rung): rung is VideoRung => rung.kind === 'video' && rung.codec !== 'av1',
  );
  return remaining.filter((rung) => {
    if (rung.kind !== 'video') return true;
    if (rung.codec === 'av1') return expected(rung) > SMALL_BPS;
    const larger = h264.filter((other) => pixels(other) > pixels(rung));
    return larger.every((other) => expected(other) > SMALL_BPS);
  });
}
