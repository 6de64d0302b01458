/** Simulates how well a clip plays on a viewer's connection. */
import { around, between, type Random } from './random.ts';
import type { FeedClip } from './feed-clips.ts';

export type DemoConnection = {
  startupMs: number;
  /** The short side, in pixels, of the largest rendition that the connection can stream. */
  shortSide: number;
  stallsPerMinute: number;
  stallMs: number;
  /** Probability that a clip does not play at all. */
  failing: number;
};

/** Kinds of connection, weighted by their share of the viewers. */
export const connections: readonly (readonly [DemoConnection, number])[] = [
  [{ startupMs: 190, shortSide: 1080, stallsPerMinute: 0.1, stallMs: 300, failing: 0.002 }, 50],
  [{ startupMs: 450, shortSide: 720, stallsPerMinute: 0.6, stallMs: 700, failing: 0.008 }, 35],
  [{ startupMs: 1_300, shortSide: 540, stallsPerMinute: 3, stallMs: 1_500, failing: 0.025 }, 15],
];

export type Playback = {
  startupMs: number;
  /** Short sides of the rendition played first, and of the one played from `changesAtSecond` on. */
  firstSide: number;
  laterSide: number;
  changesAtSecond: number;
  stalls: readonly { second: number; durationMs: number }[];
  failure: { errorCode: string; errorMessage: string } | null;
};

const failures = [
  { errorCode: 'fragLoadTimeOut', errorMessage: 'A part of the clip did not arrive in time.' },
  { errorCode: 'manifestLoadTimeOut', errorMessage: 'The playlist did not arrive in time.' },
] as const;

/** Simulates a player on this connection that plays `seconds` of a clip. */
export function playOver(
  connection: DemoConnection,
  clip: FeedClip,
  seconds: number,
  random: Random,
): Playback {
  const renditions = renditionsOf(clip).filter((side) => side <= connection.shortSide);
  const best = renditions[0] ?? clip.shortSide;
  // Players begin with a safe size and switch up once the connection proves faster.
  const firstSide = random() < 0.3 ? (renditions[1] ?? best) : best;
  const stallChance = 1 - Math.exp((-connection.stallsPerMinute * seconds) / 60);
  const stall = { second: random() * seconds, durationMs: around(random, connection.stallMs, 4) };
  const failure = failures[random() < 0.7 ? 0 : 1];
  return {
    startupMs: Math.round(around(random, connection.startupMs, 3)),
    firstSide,
    laterSide: best,
    changesAtSecond: between(random, 1, 4),
    stalls: random() < stallChance ? [{ ...stall, durationMs: Math.round(stall.durationMs) }] : [],
    failure: random() < connection.failing ? failure : null,
  };
}

const sides = [1080, 720, 540, 360];

/** Short sides of the renditions of a clip, largest first. */
function renditionsOf({ shortSide }: FeedClip): number[] {
  const carried = sides.filter((side) => side <= shortSide);
  return carried.length === 0 ? [shortSide] : carried;
}
