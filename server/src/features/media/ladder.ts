import { outputFrameRate, type FrameRate } from './picture.ts';

/** A video rendition to create. Sizes are even and keep the source's aspect ratio. */
export type VideoRung = {
  readonly kind: 'video';
  /** The nominal short side, plus the codec if it is not H.264; names the rung's folder. */
  readonly name: string;
  readonly width: number;
  readonly height: number;
  readonly frameRate: FrameRate;
  readonly maxBitrateBps: number;
  /** Default: H.264. */
  readonly codec?: 'h264' | 'av1';
  /** `slow` takes several times the work for a fifth fewer bits. Default: `fast`. */
  readonly effort?: 'fast' | 'slow';
};

/** The only rendition of an audio-only source, or the last resort on a slow connection. */
export type AudioRung = {
  readonly kind: 'audio';
  readonly name: string;
};

export type Rung = VideoRung | AudioRung;

/** The inputs of the ladder: the size after rotation (null without video) and the frame rate. */
export type LadderSource = {
  readonly hasAudio?: boolean;
  readonly width: number | null;
  readonly height: number | null;
  readonly maxFrameRate: number | null;
};

export type Ladder = {
  /** Created by `prepare`; the item is playable as soon as it exists. */
  readonly first: Rung;
  /** Created by `complete`, largest first; empty if the first rung is the only one. */
  readonly remaining: readonly Rung[];
};

type Step = {
  readonly shortSide: number;
  readonly maxBitrateBps: number;
};

/** Rungs are named by the short side: a portrait clip of 1080×1920 is 1080, not 1920. */
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

/** All available steps, smallest first; `audio` is audio only. */
export const LADDER_STEPS = ['audio', '240', '360', '540', '720', '1080', '1440', '2160'] as const;
export type LadderStep = (typeof LADDER_STEPS)[number];

/** 1440 and 2160 take more work than all others together, and show no difference on phones. */
export const DEFAULT_STEPS: readonly LadderStep[] = ['audio', '240', '360', '540', '720', '1080'];

export const AUDIO_RUNG: AudioRung = { kind: 'audio', name: 'audio' };
/** A picture with a smaller short side keeps its full resolution in the first rung. */
const COARSE_SHORT_SIDE = 360;
/** Maximum size of a step relative to a smaller source's own size. */
const MAX_STEP_DOWN = 0.8;

/** The rung that is ready first: good enough on a phone, at a third of the work of 1080. */
const FIRST_SHORT_SIDE = 720;
/** A source this close below a step gets the step at its own size; nothing is upscaled. */
const STEP_TOLERANCE = 0.02;
/** The encoder works in blocks of 16. Only a picture smaller than that is upscaled. */
const MIN_SIDE = 16;
const MAX_RATE = 60;
/** Below 720, doubling the frame rate at the same bit rate costs more sharpness than it gains. */
const MAX_RATE_SMALL = 30;
/** Below this, AV1 saves too few bits to be worth its work. */
const MIN_AV1_SHORT_SIDE = 540;
const AV1_BITRATE_SHARE = 0.6;

/** The nearest even length that does not exceed the source. */
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

/** The same rung in AV1, at a lower bit rate. */
function inAv1(rung: VideoRung): VideoRung {
  return {
    ...rung,
    name: `${rung.name}av1`,
    codec: 'av1',
    maxBitrateBps: Math.round(rung.maxBitrateBps * AV1_BITRATE_SHARE),
  };
}

type LadderOptions = {
  readonly quality?: 'basic' | 'plus';
  /** The steps to create, if the source reaches them. Default: {@link DEFAULT_STEPS}. */
  readonly steps?: readonly string[];
};

/**
 * Plans the renditions of a source by its short side, never larger than the source. A source that
 * reaches no step, or only the smallest, gets a rung at its own size; a source without video gets
 * one audio rung. `plus` encodes everything but the first H.264 rung with more effort, and the
 * upper rungs in AV1 as well. The first rung is exempt because it determines how soon an item
 * plays.
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
  if (first === undefined) throw new Error('The ladder has no rung for the picture.');
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

/** The AV1 counterparts of these H.264 rungs. */
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
  // A step only slightly smaller than the source saves too little to be worth its work.
  const smaller = reached.filter((step) => step.shortSide <= shortSide * MAX_STEP_DOWN);
  const above = STEPS.findLast((step) => step.shortSide >= Math.max(shortSide, COARSE_SHORT_SIDE));
  const own = { shortSide, maxBitrateBps: (above ?? TOP_STEP).maxBitrateBps };
  return [
    videoRung(own, String(evenSide(shortSide, 1)), source),
    ...smaller.map((step) => videoRung(step, String(step.shortSide), source)),
  ];
}
