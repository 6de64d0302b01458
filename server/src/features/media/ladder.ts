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

/** The single rendition of a source without a picture, or the last resort of a bad line. */
export type AudioRung = {
  readonly kind: 'audio';
  readonly name: string;
};

export type Rung = VideoRung | AudioRung;

/** What the ladder depends on: the size after rotation (null: no picture) and the frame rate. */
export type LadderSource = {
  readonly hasAudio?: boolean;
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
const TOP_STEP: Step = { shortSide: 2160, maxBitrateBps: 16_000_000 };
const STEPS: readonly Step[] = [
  TOP_STEP,
  { shortSide: 1440, maxBitrateBps: 8_500_000 },
  { shortSide: 1080, maxBitrateBps: 4_800_000 },
  { shortSide: 720, maxBitrateBps: 2_800_000 },
  { shortSide: 540, maxBitrateBps: 1_600_000 },
  { shortSide: 360, maxBitrateBps: 800_000 },
  { shortSide: 240, maxBitrateBps: 350_000 },
];

/** Every step that can be asked for, smallest first; `audio` is the sound alone. */
export const LADDER_STEPS = ['audio', '240', '360', '540', '720', '1080', '1440', '2160'] as const;
export type LadderStep = (typeof LADDER_STEPS)[number];

/** 1440 and 2160 cost more work than all the others together, and phones show no difference. */
export const DEFAULT_STEPS: readonly LadderStep[] = ['audio', '240', '360', '540', '720', '1080'];

export const AUDIO_RUNG: AudioRung = { kind: 'audio', name: 'audio' };
/** A picture with fewer lines than this keeps all of them in its first rung. */
const COARSE_SHORT_SIDE = 360;
/** How large a step may be beside a smaller source's own size. */
const MAX_STEP_DOWN = 0.8;

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

export type LadderOptions = {
  readonly quality?: 'basic' | 'plus';
  /** Which steps to make of those that the source reaches; {@link DEFAULT_STEPS} where absent. */
  readonly steps?: readonly string[];
};

/**
 * Plans the renditions of a source by its short side, never larger than the source. One that reaches
 * no step, or only the smallest, gets a rung at its own size; a source without a picture one audio
 * rung. `plus` makes all but the first H.264 rung with more effort, and the upper ones in AV1 too: the
 * first rung decides how soon an item plays.
 */
export function planLadder(
  info: LadderSource,
  { quality = 'basic', steps = DEFAULT_STEPS }: LadderOptions = {},
): Ladder {
  if (info.width === null || info.height === null) {
    return { first: AUDIO_RUNG, remaining: [] };
  }
  const source = {
    width: info.width,
    height: info.height,
    framesPerSecond: info.maxFrameRate ?? MAX_RATE_SMALL,
  };
  const rungs = videoRungs(source, steps);
  const first = rungs.find((rung) => Number(rung.name) <= FIRST_SHORT_SIDE) ?? rungs.at(-1);
  if (first === undefined) throw new Error('A picture has at least one rung.');
  const others = rungs.filter((rung) => rung !== first);
  const sound = info.hasAudio === true && steps.includes('audio') ? [AUDIO_RUNG] : [];
  if (quality === 'basic') return { first, remaining: [...others, ...sound] };
  return {
    first,
    remaining: [
      ...others.map((rung) => ({ ...rung, effort: 'slow' as const })),
      ...av1Rungs(rungs),
      ...sound,
    ],
  };
}

export function isAv1(rung: Rung): boolean {
  return rung.kind === 'video' && rung.codec === 'av1';
}

/** The rungs in AV1 that go beside these in H.264. */
export function av1Rungs(rungs: readonly VideoRung[]): VideoRung[] {
  return rungs.filter((rung) => Number(rung.name) >= MIN_AV1_SHORT_SIDE).map(inAv1);
}

/** The H.264 rungs of a source, largest first. */
function videoRungs(source: PictureSource, names: readonly string[]): VideoRung[] {
  const shortSide = Math.min(source.width, source.height);
  const reached = STEPS.filter(
    (step) =>
      names.includes(String(step.shortSide)) && step.shortSide * (1 - STEP_TOLERANCE) <= shortSide,
  );
  const isCovered = reached.some((step) => step.shortSide >= COARSE_SHORT_SIDE);
  if (isCovered || (reached.length > 0 && shortSide >= COARSE_SHORT_SIDE)) {
    return reached.map((step) => videoRung(step, String(step.shortSide), source));
  }
  // What is little smaller than the source saves too little to be worth its work.
  const smaller = reached.filter((step) => step.shortSide <= shortSide * MAX_STEP_DOWN);
  const above = STEPS.findLast((step) => step.shortSide >= Math.max(shortSide, COARSE_SHORT_SIDE));
  const own = { shortSide, maxBitrateBps: (above ?? TOP_STEP).maxBitrateBps };
  return [
    videoRung(own, String(evenSide(shortSide, 1)), source),
    ...smaller.map((step) => videoRung(step, String(step.shortSide), source)),
  ];
}
