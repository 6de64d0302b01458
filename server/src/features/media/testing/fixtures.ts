/** Recordings as phones, cameras and editors make them, with the expected results. */
import { join } from 'node:path';
import sharp from 'sharp';
import type { ClipName } from '../../../../test/media-samples.ts';
import { measureSound } from '../child/sound/loudness.ts';
import { openSource } from '../child/source/source.ts';
import { TaskMeter } from '../child/task-meter.ts';
import { readMedia, type ReadFrame } from './media-reader.ts';
import { prepareSample, type WorkFolder } from './run-task.ts';

export type Facts = {
  readonly width: number | null;
  readonly height: number | null;
  readonly aspectRatio: string | null;
  readonly frameRate: number | null;
  readonly tier: string;
  readonly colors: string | null;
  readonly thumbnail: 'upright' | 'wide' | 'square';
  readonly seconds: number;
  /** Integrated loudness of the rendition; null for silence. */
  readonly loudnessLufs: number | null;
  /** Delay from the first bright picture to the first sound, or null if they aren't marked. */
  readonly soundOffsetMs: number | null;
};

export type Fixture = {
  readonly name: ClipName;
  readonly what: string;
  readonly expected: Facts;
};

const PORTRAIT: Facts = {
  width: 360,
  height: 640,
  aspectRatio: '9:16',
  frameRate: 30,
  tier: 'SD',
  colors: 'bt709',
  thumbnail: 'upright',
  seconds: 2,
  loudnessLufs: -14,
  soundOffsetMs: null,
};
const WIDE: Facts = {
  ...PORTRAIT,
  width: 640,
  height: 360,
  aspectRatio: '16:9',
  thumbnail: 'wide',
};
const MARKED: Facts = { ...PORTRAIT, soundOffsetMs: 0 };

function fixture(name: ClipName, what: string, expected: Facts): Fixture {
  return { name, what, expected };
}

/** Few and short enough to run for every change. */
export const QUICK_FIXTURES: readonly Fixture[] = [
  fixture('rotated-90.mp4', 'rotated by its matrix', PORTRAIT),
  fixture('hlg.mp4', 'HDR, HLG', WIDE),
  fixture('dolby-vision.mp4', 'Dolby Vision 8.4, base layer', WIDE),
  fixture('ten-bit-422.mov', 'ProRes, 10 bits 4:2:2', PORTRAIT),
  fixture('wide-pixels.mp4', 'anamorphic pixels', {
    ...WIDE,
    width: 1024,
    height: 576,
  }),
  fixture('late-sound.mp4', 'edit lists, sound 1.5 s late', { ...MARKED, seconds: 5 }),
  fixture('surround.mp4', '5.1 to stereo', { ...PORTRAIT, seconds: 4 }),
  fixture('silent.mp4', 'no sound', { ...PORTRAIT, loudnessLufs: null }),
  fixture('audio-only.m4a', 'no picture', {
    ...PORTRAIT,
    width: null,
    height: null,
    aspectRatio: null,
    frameRate: null,
    tier: 'audio-only',
    colors: null,
    seconds: 5,
  }),
];

export const FIXTURES: readonly Fixture[] = [
  ...QUICK_FIXTURES,
  fixture('hdr.mp4', 'HDR10, PQ', WIDE),
  fixture('ten-bit-422.mp4', 'H.264, 10 bits 4:2:2', PORTRAIT),
  fixture('odd-size.mp4', 'odd size', { ...PORTRAIT, width: 361, height: 641 }),
  fixture('small.mp4', 'small', {
    ...WIDE,
    width: 160,
    height: 120,
    aspectRatio: '4:3',
  }),
  fixture('varying-rate.mp4', 'varying frame rate, B frames', { ...MARKED, seconds: 16 }),
  fixture('fragmented.mp4', 'fragments, B frames, no edit list', { ...MARKED, seconds: 6 }),
  fixture('sound-losses.mkv', 'five losses of sound', { ...MARKED, seconds: 6 }),
  fixture('interlaced.mp4', 'interlaced', {
    ...WIDE,
    width: 360,
    height: 288,
    aspectRatio: '5:4',
    frameRate: 25,
    seconds: 5,
  }),
  fixture('sixty-fps.mp4', '60 frames a second', {
    ...PORTRAIT,
    width: 720,
    height: 1280,
    frameRate: 60,
    tier: 'HD',
    seconds: 3,
  }),
  fixture('ntsc.mp4', '29.97 frames a second', { ...PORTRAIT, frameRate: 29.97, seconds: 5 }),
  fixture('repeats.ogv', 'Theora with repeated pictures', {
    ...PORTRAIT,
    loudnessLufs: null,
    seconds: 4,
  }),
  fixture('long-sound.mp4', 'sound longer than picture', { ...PORTRAIT, seconds: 5 }),
  fixture('short-sound.mp4', 'picture longer than sound', { ...PORTRAIT, seconds: 5 }),
  fixture('quiet.mp4', 'quiet', { ...PORTRAIT, seconds: 4 }),
  fixture('loud.mp4', 'too loud', { ...PORTRAIT, seconds: 4 }),
  fixture('long.mp4', 'long, encoded in parts', {
    ...MARKED,
    width: 180,
    height: 320,
    frameRate: 15,
    seconds: 75,
  }),
  fixture('black-start.mp4', 'black start', PORTRAIT),
];

const BRIGHT = 40;

function soundOffsetMs(pictures: readonly ReadFrame[], sounds: readonly ReadFrame[]) {
  const picture = pictures.find((frame) => frame.level > BRIGHT);
  const sound = sounds.find((frame) => frame.onset !== null);
  // Without a dark lead-in, there is no mark to compare.
  if (picture === undefined || sound === undefined || picture === pictures[0]) return null;
  return Math.round((sound.seconds + (sound.onset ?? 0) - picture.seconds) * 1_000);
}

/** Prepares a fixture into `folder` and measures the result by decoding every frame. */
export async function measure(fixture: Fixture, folder: WorkFolder): Promise<Facts> {
  const { info, outputDir } = await prepareSample(folder, fixture.name);
  const video = join(outputDir, 'download', 'video.mp4');
  const tracks = await readMedia(video);
  const pictures = tracks.find((track) => track.isVideo);
  const sounds = tracks.find((track) => !track.isVideo);
  const meter = new TaskMeter({ seconds: null, bytes: 0 });
  const { loudness } = await measureSound(await openSource(video), 600, meter, null);
  const { width, height } = await sharp(join(outputDir, 'thumbnail.webp')).metadata();
  return {
    width: info.width,
    height: info.height,
    aspectRatio: info.aspectRatio,
    frameRate: info.maxFrameRate,
    tier: info.resolutionTier,
    colors: pictures?.colors ?? null,
    thumbnail: width === height ? 'square' : width < height ? 'upright' : 'wide',
    seconds: info.durationSeconds,
    loudnessLufs: loudness?.integratedLufs ?? null,
    soundOffsetMs: soundOffsetMs(pictures?.frames ?? [], sounds?.frames ?? []),
  };
}

const MAX_LOUDNESS_ERROR = 1;
const MAX_OFFSET_MS = 20;
const MAX_LENGTH_ERROR_SECONDS = 0.1;

/** Whether the difference between two facts is too small to hear or see. */
export function isRight(fact: keyof Facts, actual: Facts, expected: Facts): boolean {
  const [is, should] = [actual[fact], expected[fact]];
  const tolerance = {
    loudnessLufs: MAX_LOUDNESS_ERROR,
    soundOffsetMs: MAX_OFFSET_MS,
    seconds: MAX_LENGTH_ERROR_SECONDS,
  }[fact as string];
  // Without marks, the offset means nothing.
  if (fact === 'soundOffsetMs' && should === null) return true;
  if (typeof is !== 'number' || typeof should !== 'number') return is === should;
  return Math.abs(is - should) <= (tolerance ?? 0);
}
