/**
 * Reads a finished rendition back before it is accepted: a `ready` item must play to its end with
 * its video and audio, no matter what the source was like.
 */
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseMediaPlaylist, type PlaylistSegment } from '../../media-playlist.ts';
import { MediaError } from '../../media-error.ts';
import type { Rendition } from '../../tasks.ts';
import { readSegment, readTracks, type FragmentRun } from './fragments.ts';

/** Browsers bridge gaps up to this size; ours come only from rounding. */
const MAX_GAP_SECONDS = 0.05;
/**
 * Maximum distance between the starts or ends of video and audio: AAC priming and padding, plus one
 * picture.
 */
const MAX_EDGE_SECONDS = 0.25;
/** Maximum difference between a playlist and its segments: one picture at a low frame rate. */
const MAX_LENGTH_ERROR_SECONDS = 0.15;
/** Maximum distance between segment starts in renditions of different frame rates. */
const MAX_MISALIGNMENT_SECONDS = 0.1;

/** Duration of a short first segment; see `planSegments`. */
const SHORT_START_SECONDS = 1;
/** In pictures: half a GOP is rounded up, twice. */
const SHORT_START_SLACK = 2;

type Expected = {
  readonly durationSeconds: number;
  readonly hasSound: boolean;
  readonly hasShortStart: boolean;
};

/** Start times of a rendition's segments, in seconds. */
export type CutPoints = readonly number[];

/**
 * Checks that a rendition is continuous and that its tracks start and end together.
 * @returns the start times of its segments
 * @throws {MediaError} PROCESSING_FAILED, which is not retried
 */
export async function verifyRendition(
  outputDir: string,
  rendition: Rendition,
  expected: Expected,
): Promise<CutPoints> {
  const problem = (detail: string): MediaError =>
    new MediaError('PROCESSING_FAILED', 'The processed file does not play.', {
      detail: `rendition ${rendition.name}: ${detail}`,
      retryable: false,
    });
  const path = join(outputDir, rendition.playlist);
  const text = await readFile(path, 'utf8');
  const { initSegment, segments } = parseMediaPlaylist(text);
  if (initSegment === null || segments.length === 0) throw problem('the playlist is empty');
  const flaw = flawOf(text, segments) ?? startFlaw(rendition, segments, expected);
  if (flaw !== null) throw problem(flaw);
  const folder = dirname(path);
  const tracks = readTracks(await readFile(join(folder, initSegment)));
  const kinds = [...tracks.values()].map(({ kind }) => kind);
  if (expected.hasSound && !kinds.includes('audio')) throw problem('the sound is missing');
  if (rendition.width !== null && !kinds.includes('video')) throw problem('the picture is missing');
  const first = new Map<string, FragmentRun>();
  const last = new Map<string, FragmentRun>();
  const cuts: number[] = [];
  for (const { durationSeconds, name } of segments) {
    const runs = await readSegment(join(folder, name), tracks).catch((error: unknown) => {
      throw problem(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    });
    for (const kind of kinds) {
      const run = runs.get(kind);
      if (run === undefined) throw problem(`${name} has no ${kind}`);
      if (!run.startsWithKey) throw problem(`${name} does not start with a key frame`);
      const gap = run.startSeconds - (last.get(kind)?.endSeconds ?? run.startSeconds);
      if (Math.abs(gap) > MAX_GAP_SECONDS) throw problem(`${name}: the ${kind} jumps by ${gap} s`);
      if (!first.has(kind)) first.set(kind, run);
      last.set(kind, run);
    }
    const run = runs.get('video') ?? runs.get('audio');
    cuts.push(run?.shownSeconds ?? 0);
    const length = run === undefined ? 0 : run.endSeconds - run.startSeconds;
    if (Math.abs(length - durationSeconds) > MAX_LENGTH_ERROR_SECONDS) {
      throw problem(`${name} has ${length} s, and the playlist says ${durationSeconds} s`);
    }
  }
  const starts = [...first.values()].map(({ shownSeconds }) => shownSeconds);
  const ends = [...last.values()].map(({ endSeconds }) => endSeconds);
  for (const [edge, times] of [
    ['start', starts],
    ['end', ends],
  ] as const) {
    const apart = Math.max(...times) - Math.min(...times);
    if (apart > MAX_EDGE_SECONDS) throw problem(`picture and sound ${edge} ${apart} s apart`);
  }
  const length = Math.max(...ends) - Math.min(...starts);
  if (Math.abs(length - expected.durationSeconds) > MAX_EDGE_SECONDS) {
    throw problem(`it has ${length} s of ${expected.durationSeconds} s`);
  }
  return cuts;
}

/** The first flaw in a finished playlist, including one that was played while it grew, or null. */
function flawOf(text: string, segments: readonly PlaylistSegment[]): string | null {
  const lines = text.split('\n');
  if (!lines.includes('#EXT-X-ENDLIST')) return 'the playlist has no end';
  if (!lines.includes('#EXT-X-PLAYLIST-TYPE:VOD')) return 'the playlist may still grow';
  const target = Number(/^#EXT-X-TARGETDURATION:(\d+)$/m.exec(text)?.[1]);
  const long = segments.find(({ durationSeconds }) => Math.round(durationSeconds) > target);
  return long === undefined ? null : `${long.name} is longer than ${target} s`;
}

function startFlaw(
  { frameRate }: Rendition,
  segments: readonly PlaylistSegment[],
  { hasShortStart }: Expected,
): string | null {
  const [first] = segments;
  if (!hasShortStart || frameRate === null || segments.length < 2 || first === undefined)
    return null;
  const isShort = first.durationSeconds <= SHORT_START_SECONDS + SHORT_START_SLACK / frameRate;
  return isShort ? null : `${first.name} has ${first.durationSeconds} s, and not a second`;
}

type Item = {
  readonly durationSeconds: number;
  readonly hasAudio: boolean;
  /** Whether the audio is in separate renditions. */
  readonly isSoundApart: boolean;
  readonly hasShortStart: boolean;
};

/**
 * Checks the renditions of an item, and that players can switch between those with video, including
 * to the first rendition, whose segments start at `firstStarts`. Null means that the first
 * rendition is among them or that its starts are unknown.
 * @returns the start times of the video segments; empty without video
 * @throws {MediaError} PROCESSING_FAILED, which is not retried
 */
export async function verifyAll(
  outputDir: string,
  renditions: readonly Rendition[],
  { durationSeconds, hasAudio, hasShortStart, isSoundApart }: Item,
  firstStarts: CutPoints | null,
): Promise<CutPoints> {
  const cuts = new Map<string, CutPoints>(firstStarts === null ? [] : [['first', firstStarts]]);
  for (const rendition of renditions) {
    const isPicture = rendition.width !== null;
    const hasSound = isPicture ? hasAudio && !isSoundApart : true;
    const expected = { durationSeconds, hasSound, hasShortStart };
    const found = await verifyRendition(outputDir, rendition, expected);
    if (isPicture) cuts.set(rendition.name, found);
  }
  verifyAlignment(cuts);
  return [...cuts.values()][0] ?? [];
}

/**
 * Checks that players can switch between renditions at each segment.
 * @throws {MediaError} PROCESSING_FAILED
 */
export function verifyAlignment(renditions: ReadonlyMap<string, CutPoints>): void {
  const [[firstName, firstCuts] = ['', []], ...others] = [...renditions];
  for (const [name, cuts] of others) {
    const isAligned =
      cuts.length === firstCuts.length &&
      cuts.every(
        (cut, index) => Math.abs(cut - (firstCuts[index] ?? 0)) <= MAX_MISALIGNMENT_SECONDS,
      );
    if (isAligned) continue;
    throw new MediaError('PROCESSING_FAILED', 'The processed file does not play.', {
      detail: `the segments of ${name} are not those of ${firstName}`,
      retryable: false,
    });
  }
}
