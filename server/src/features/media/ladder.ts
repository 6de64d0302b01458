import { outputFrameRate, type FrameRate } from './picture.ts';

/** One rendition with a picture to make. Sizes are even and keep the aspect of the source. */
export type VideoRung = {
  readonly kind: 'video';
  /** The short side the rung stands for, with the codec where it is not H.264; names its folder. */
  readonly name: string;
  readonly width: number;
  readonly height: number;
  readonly frameRate: FrameRate;
  readonly maxBitrateBps: number;
  /** H.264 where it is absent. */
  readonly codec?: 'h264' | 'av1';
  /** `slow` spends several times the work for a fifth fewer bits. `fast` where it is absent. */
  readonly effort?: 'fast' | 'slow';
};

/** The single rendition of a source without a picture. */
export type AudioRung = {
  readonly kind: 'audio';
  readonly name: string;
};

export type Rung = VideoRung | AudioRung;

/** What the ladder depends on: the size after rotation (null: no picture) and the frame rate. */
export type LadderSource = {
  readonly width: number | null;
  readonly height: number | null;
  readonly maxFrameRate: number | null;
};

export type Ladder = {
  /** Made by `prepare`; the item is playable as soon as it exists. */
  readonly first: Rung;
  /** Made by `complete`, largest first; empty when the first rung is all there is to make. */
  readonly remaining: readonly Rung[];
};

type Step = {
  readonly shortSide: number;
  readonly maxBitrateBps: number;
};

/** Rungs by the short side, so that a portrait clip of 1080 by 1920 is 1080 and not 1920. */
const STEPS: readonly Step[] = [
  { shortSide: 1080, maxBitrateBps: 4_800_000 },
  { shortSide: 720, maxBitrateBps: 2_800_000 },
  { shortSide: 540, maxBitrateBps: 1_600_000 },
  { shortSide: 360, maxBitrateBps: 800_000 },
];

/** The rung that is ready first: good on a phone, and a third of the work of 1080. */
const FIRST_SHORT_SIDE = 720;
/** A source this close below a step gets the step at its own size; nothing is scaled up. */
const STEP_TOLERANCE = 0.02;
/** The encoder works in blocks of 16; a smaller picture is the one case that is scaled up. */
const MIN_SIDE = 16;
const MAX_RATE = 60;
/** Below 720 a second frame in the same bit budget costs more sharpness than it gives. */
const MAX_RATE_SMALL = 30;
/** Below this AV1 saves too few bits to be worth its work. */
const MIN_AV1_SHORT_SIDE = 540;
const AV1_BITRATE_SHARE = 0.6;

/** The nearest even length, but none beyond the source. */
function evenSide(side: number, scale: number): number {
  const nearest = Math.round((side * scale) / 2) * 2;
  return Math.max(MIN_SIDE, nearest > side ? nearest - 2 : nearest);
}

type PictureSource = { width: number; height: number; framesPerSecond: number };

function videoRung(step: Step, name: string, source: PictureSource): VideoRung {
  const shortSide = Math.min(source.width, source.height);
  const scale = Math.min(1, step.shortSide / shortSide);
  const maxRate = step.shortSide < FIRST_SHORT_SIDE ? MAX_RATE_SMALL : MAX_RATE;
  return {
    kind: 'video',
    name,
    width: evenSide(source.width, scale),
    height: evenSide(source.height, scale),
    frameRate: outputFrameRate(source.framesPerSecond, maxRate),
    maxBitrateBps: step.maxBitrateBps,
  };
}

/** The same picture in AV1, which needs about half of the bits. */
function inAv1(rung: VideoRung): VideoRung {
  return {
    ...rung,
    name: `${rung.name}av1`,
    codec: 'av1',
    maxBitrateBps: Math.round(rung.maxBitrateBps * AV1_BITRATE_SHARE),
  };
}

/**
 * Plans the renditions of a source: 360, 540, 720 and 1080 by the short side, never larger than the
 * source. A picture smaller than 360 gets one rung at its own size, a source without a picture one
 * audio rung. `plus` makes all but the first H.264 rung with more effort, and the upper ones in AV1
 * too: the first rung decides how soon an item plays.
 */
export function planLadder(info: LadderSource, quality: 'basic' | 'plus' = 'basic'): Ladder {
  if (info.width === null || info.height === null) {
    return { first: { kind: 'audio', name: 'audio' }, remaining: [] };
  }
  const source = {
    width: info.width,
    height: info.height,
    framesPerSecond: info.maxFrameRate ?? MAX_RATE_SMALL,
  };
  const shortSide = Math.min(source.width, source.height);
  const rungs = STEPS.filter((step) => step.shortSide * (1 - STEP_TOLERANCE) <= shortSide).map(
    (step) => videoRung(step, String(step.shortSide), source),
  );
  const first =
    rungs.find((rung) => Number(rung.name) <= FIRST_SHORT_SIDE) ??
    videoRung({ shortSide, maxBitrateBps: 800_000 }, String(evenSide(shortSide, 1)), source);
  const others = rungs.filter((rung) => rung !== first);
  if (quality === 'basic') return { first, remaining: others };
  const av1 = rungs.filter((rung) => Number(rung.name) >= MIN_AV1_SHORT_SIDE).map(inAv1);
  return {
    first,
    remaining: [...others.map((rung) => ({ ...rung, effort: 'slow' as const })), ...av1],
  };
}
