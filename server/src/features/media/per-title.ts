import type { Rung, VideoRung } from './ladder.ts';

/**
 * Of pictures with fewer bits than this a smaller rendition saves nothing that a line would notice: the
 * sound alone has about as many.
 */
const SMALL_BPS = 150_000;
/** How the bits of a picture grow with its pixels at the same quality. */
const PIXEL_EXPONENT = 0.75;

/**
 * Leaves out the renditions that a title does not need: its first one, made at constant quality, tells
 * how many bits its pictures take. Below one that is small already, no smaller one is made, nor the same
 * again in AV1.
 *
 * @param videoBps what the pictures of `first` take on average
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
