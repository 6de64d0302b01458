/** Runs the engine on a corpus file and reports what is wrong with the result. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MediaError, runMediaTask, TIMELINE_START_SECONDS } from '../../media.ts';
import { parseMediaPlaylist } from '../../media-playlist.ts';
import type { PrepareResult, Rendition } from '../../tasks.ts';
import { GENEROUS, type WorkFolder } from '../run-task.ts';
import { decodeFile, type Decoded } from './decode-file.ts';
import type { Recipe } from './recipe.ts';
import { similarity } from './similarity.ts';
import { writeFileOf } from './write-file.ts';

const MAX_LENGTH_ERROR_SECONDS = 0.1;
const MAX_OFFSET_ERROR_SECONDS = 0.04;
const MIN_SIMILARITY = 0.95;
/** A similarity below this means a different picture. */
const OTHER_PICTURE = 0.9;
const COMPARED_PICTURES = 4;
const BRIGHT = 40;
/** AAC packets start and end up to two frames off the timeline. */
const MAX_SOUND_EDGE_SECONDS = 0.1;

export type Judgement = {
  readonly name: string;
  readonly verdict: string;
  readonly problems: readonly string[];
  /** The minimum over all compared pictures. */
  readonly similarity: number | null;
  /** Audio/video offset relative to the source. */
  readonly offsetErrorMs: number | null;
  readonly lengthErrorMs: number | null;
  /** Folder of the renditions for playing in a browser, or null if there are none. */
  readonly outputDir: string | null;
};

/** Joins a rendition's initialization segment and segments, like a player's buffer. */
export async function joinRendition(outputDir: string, { playlist }: Rendition): Promise<string> {
  const folder = join(outputDir, playlist, '..');
  const listed = parseMediaPlaylist(await readFile(join(outputDir, playlist), 'utf8'));
  const names = [listed.initSegment ?? '', ...listed.segments.map(({ name }) => name)];
  const path = join(outputDir, '..', `joined-${playlist.replace('/', '-')}.mp4`);
  const parts = await Promise.all(names.map((name) => readFile(join(folder, name))));
  await writeFile(path, Buffer.concat(parts));
  return path;
}

function mean(luma: Buffer): number {
  let sum = 0;
  for (let at = 0; at < luma.length; at += 16) sum += luma[at] ?? 0;
  return sum / Math.max(1, luma.length / 16);
}

/** Delay from the first picture to the first sound, or null if either has no clear beginning. */
function soundOffset({ onsetSeconds, pictures }: Decoded): number | null {
  const bright = pictures.find(({ luma }) => mean(luma) > BRIGHT);
  if (bright === undefined || bright === pictures[0] || onsetSeconds === null) return null;
  return onsetSeconds - bright.seconds;
}

function startOf({ pictures, soundStartSeconds }: Decoded): number {
  return Math.min(pictures[0]?.seconds ?? Infinity, soundStartSeconds ?? Infinity);
}

/**
 * The mean similarity of sampled pictures to the nearest source pictures, or the lowest one if a
 * picture is entirely different.
 */
function compare(made: Decoded, source: Decoded, size: { width: number; height: number }): number {
  const { height, width } = size;
  const count = made.pictures.length;
  const zero = startOf(source);
  const step = Math.max(0.04, (source.pictures.at(-1)?.seconds ?? 0) / source.pictures.length);
  const found: number[] = [];
  for (let index = 0; index < COMPARED_PICTURES; index += 1) {
    const picture = made.pictures[Math.floor(((index + 0.5) * count) / COMPARED_PICTURES)];
    if (picture === undefined) continue;
    const seconds = picture.seconds - TIMELINE_START_SECONDS;
    const near = source.pictures.filter(
      (one) => Math.abs(one.seconds - zero - seconds) <= step * 1.5,
    );
    // The last picture is held while the audio continues. Before the first picture, the first one
    // is shown.
    const edges = near.length > 0 ? near : [source.pictures[0], source.pictures.at(-1)];
    const shown = edges.filter((one) => one !== undefined);
    const best = Math.max(
      0,
      ...shown.map(({ luma }) => similarity(picture.luma, luma, width, height)),
    );
    found.push(best);
  }
  const lowest = Math.min(1, ...found);
  const mean = found.reduce((sum, one) => sum + one, 0) / Math.max(1, found.length);
  return lowest < OTHER_PICTURE ? lowest : mean;
}

const TURNS = { 90: 'transpose=clock', 180: 'hflip,vflip', 270: 'transpose=cclock' } as const;

type Made = {
  readonly prepared: PrepareResult;
  readonly renditions: readonly { readonly rendition: Rendition; readonly dir: string }[];
};

/**
 * Creates all renditions of a file.
 * @throws {MediaError}
 */
async function process(sourcePath: string, folder: WorkFolder): Promise<Made & { dir: string }> {
  const dir = join(folder.path, 'out');
  const prepared = await runMediaTask(
    { type: 'prepare', sourcePath, outputDir: dir, maxDurationSeconds: 600, quality: 'basic' },
    GENEROUS,
  );
  const first = prepared.rungs.map((rendition) => ({ rendition, dir }));
  if (prepared.remainingRungs.length === 0) return { prepared, renditions: first, dir };
  const completed = join(folder.path, 'completed');
  const { rungs } = await runMediaTask(
    { type: 'complete', sourcePath, outputDir: completed, prepared },
    GENEROUS,
  );
  const further = rungs.slice(first.length).map((rendition) => ({ rendition, dir: completed }));
  return { prepared, renditions: [...first, ...further], dir };
}

type Ready = Extract<Recipe['expected'], { verdict: 'ready' }>;

/** Problems in the item's own description. */
function checkInfo({ streams }: Recipe, expected: Ready, prepared: PrepareResult): string[] {
  const { info, warnings = [] } = prepared;
  const problems: string[] = [];
  if (Math.abs(info.durationSeconds - expected.seconds) > MAX_LENGTH_ERROR_SECONDS) {
    problems.push(`it has ${info.durationSeconds} s`);
  }
  if (info.hasAudio !== expected.hasSound) problems.push(`sound: ${info.hasAudio}`);
  const hasPicture = streams.some(({ kind }) => kind === 'video');
  if ((info.kind === 'video') !== hasPicture) problems.push(`it is ${info.kind}`);
  if (expected.warning !== undefined && !warnings.some(({ code }) => code === expected.warning)) {
    problems.push(`there is no warning ${expected.warning}`);
  }
  if (expected.rate !== undefined && info.maxFrameRate !== expected.rate) {
    problems.push(`it has ${info.maxFrameRate} frames a second`);
  }
  const [width, height] = expected.size ?? [info.width, info.height];
  if (width !== info.width || height !== info.height) {
    problems.push(`it is ${info.width}x${info.height}`);
  }
  return problems;
}

type MadeRendition = {
  readonly path: string;
  readonly rendition: Rendition;
  readonly seconds: number;
  /** Separate audio that players choose for it, or null if it has its own. */
  readonly soundPath: string | null;
};

/** Decodes a rendition as it is played, including separate audio. */
async function decodeMade({ path, rendition, soundPath }: MadeRendition): Promise<Decoded> {
  const { height, width } = rendition;
  const made = await decodeFile(path, width === null || height === null ? null : { width, height });
  if (soundPath === null) return made;
  const { pictures } = made;
  return { ...(await decodeFile(soundPath, null)), pictures };
}

/** Problems in a rendition, found by decoding every frame and comparing with the source. */
async function checkRendition(
  { streams }: Recipe,
  expected: Ready,
  sourcePath: string,
  wanted: MadeRendition,
): Promise<Pick<Judgement, 'problems' | 'similarity' | 'offsetErrorMs'>> {
  const { height, name, width } = wanted.rendition;
  const { seconds } = wanted;
  const problems: string[] = [];
  const size = width === null || height === null ? null : { width, height };
  const made = await decodeMade(wanted);
  const end = TIMELINE_START_SECONDS + seconds;
  if (expected.hasSound && Math.abs(made.soundEndSeconds - end) > MAX_SOUND_EDGE_SECONDS) {
    problems.push(`${name}: sound ends at ${made.soundEndSeconds} of ${end}`);
  }
  if (expected.hasSound && made.onsetSeconds === null) problems.push(`${name}: silence`);
  if (expected.isComparable === false || size === null) {
    return { problems, similarity: null, offsetErrorMs: null };
  }
  const [rotation] = streams.flatMap((one) => (one.kind === 'video' ? (one.rotation ?? []) : []));
  const turn = rotation === undefined ? null : TURNS[rotation];
  const source = await decodeFile(sourcePath, size, { turn, mayBeDamaged: true });
  const likeness = compare(made, source, size);
  if (likeness < MIN_SIMILARITY) problems.push(`${name}: SSIM ${likeness.toFixed(3)}`);
  const [is, should] = [soundOffset(made), soundOffset(source)];
  if (is === null || should === null)
    return { problems, similarity: likeness, offsetErrorMs: null };
  const error = Math.abs(is - should);
  if (error > MAX_OFFSET_ERROR_SECONDS) {
    problems.push(`${name}: sound after picture ${is.toFixed(3)}, not ${should.toFixed(3)}`);
  }
  return { problems, similarity: likeness, offsetErrorMs: Math.round(error * 1_000) };
}

/** Problems in a rejection. */
function checkRefusal({ expected }: Recipe, { code, detail, message }: MediaError): string[] {
  const names = expected.verdict === 'ready' ? null : expected.names;
  const isRight = expected.verdict === code && names !== null && message.includes(names);
  return isRight ? [] : [`${code}: ${message} ${detail.slice(0, 300)}`];
}

/** Writes a recipe's file into a folder and judges the engine's result. */
export async function judge(recipe: Recipe, folder: WorkFolder): Promise<Judgement> {
  const { expected, name } = recipe;
  const sourcePath = join(folder.path, 'source');
  await writeFileOf(recipe, sourcePath);
  const none = {
    name,
    similarity: null,
    offsetErrorMs: null,
    lengthErrorMs: null,
    outputDir: null,
  };
  const made = await process(sourcePath, folder).catch((error: unknown) => {
    if (!(error instanceof MediaError)) throw error;
    return error;
  });
  if (made instanceof MediaError) {
    return { ...none, verdict: made.code, problems: checkRefusal(recipe, made) };
  }
  if (expected.verdict !== 'ready') {
    return { ...none, verdict: 'ready', problems: ['it should have been refused'] };
  }
  const { prepared, renditions } = made;
  const seconds = prepared.info.durationSeconds;
  const checks = [];
  const joined = [];
  for (const { dir, rendition } of renditions) {
    joined.push({ rendition, seconds, path: await joinRendition(dir, rendition) });
  }
  const apart = joined.find(({ rendition }) => rendition.sound !== undefined)?.path ?? null;
  for (const one of joined) {
    const soundPath = one.rendition.width === null ? null : apart;
    checks.push(await checkRendition(recipe, expected, sourcePath, { ...one, soundPath }));
  }
  const similarities = checks.flatMap(({ similarity: found }) => found ?? []);
  const offsets = checks.flatMap(({ offsetErrorMs }) => offsetErrorMs ?? []);
  return {
    name,
    verdict: 'ready',
    problems: [
      ...checkInfo(recipe, expected, prepared),
      ...checks.flatMap(({ problems }) => problems),
    ],
    similarity: similarities.length === 0 ? null : Math.min(...similarities),
    offsetErrorMs: offsets.length === 0 ? null : Math.max(...offsets),
    lengthErrorMs: Math.round(Math.abs(seconds - expected.seconds) * 1_000),
    outputDir: made.dir,
  };
}
