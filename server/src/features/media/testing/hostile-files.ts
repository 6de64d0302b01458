/** Hand-crafted files that try to access other data or consume excessive resources. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { mediaSample, type ClipName } from '../../../../test/media-samples.ts';
import { generateClip } from '../sample-clips.ts';
import type { ClipSpec } from '../clip-spec.ts';
import { RECIPES } from './corpus/recipes.ts';
import { writeFileOf } from './corpus/write-file.ts';

export type HostileFile = {
  readonly name: string;
  readonly bytes: Buffer;
};

const sample = async (name: ClipName): Promise<Buffer> => readFile(await mediaSample(name));

function playlist(target: string): Buffer {
  return Buffer.from(`#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n${target}\n#EXT-X-ENDLIST\n`);
}

function concatScript(target: string): Buffer {
  return Buffer.from(`ffconcat version 1.0\nfile '${target}'\n`);
}

/** An EBML element with an eight-byte size. */
function element(id: string, payload: Buffer): Buffer {
  const size = Buffer.alloc(8);
  size.writeBigUInt64BE(BigInt(payload.length) | (1n << 56n));
  return Buffer.concat([Buffer.from(id, 'hex'), size, payload]);
}

/** A Matroska file with a script attached, named to escape any folder. */
function withAttachment(mkv: Buffer): Buffer {
  const attachment = element(
    '1941a469',
    element(
      '61a7',
      Buffer.concat([
        element('466e', Buffer.from('../../../../etc/cron.d/job')),
        element('4660', Buffer.from('application/x-font-ttf')),
        element('465c', playlist('file:///etc/passwd')),
        element('46ae', Buffer.from([1])),
      ]),
    ),
  );
  const segment = mkv.indexOf(Buffer.from('18538067', 'hex'));
  const bytes = Buffer.concat([mkv, attachment]);
  bytes.writeBigUInt64BE(BigInt(bytes.length - segment - 12) | (1n << 56n), segment + 4);
  return bytes;
}

/** An AVI file with a script in a second RIFF chunk. */
function withSecondChunk(avi: Buffer): Buffer {
  const script = concatScript('/etc/passwd');
  const header = Buffer.from('RIFF\0\0\0\0AVIXJUNK\0\0\0\0', 'latin1');
  header.writeUInt32LE(script.length + 12, 4);
  header.writeUInt32LE(script.length, 16);
  return Buffer.concat([avi, header, script]);
}

/** Overwrites the two 16-bit sizes of the first video sample description. */
function withPictureSize(mp4: Buffer, width: number, height: number): Buffer {
  const bytes = Buffer.from(mp4);
  const entry = bytes.indexOf('avc1', bytes.indexOf('stsd')) + 4;
  bytes.writeUInt16BE(width, entry + 24);
  bytes.writeUInt16BE(height, entry + 26);
  return bytes;
}

/** Overwrites the duration of the first run of frames, in ticks. */
function withFrameTicks(mp4: Buffer, ticks: number): Buffer {
  const bytes = Buffer.from(mp4);
  bytes.writeUInt32BE(ticks >>> 0, bytes.indexOf('stts') + 16);
  return bytes;
}

/** Duplicates the first track; the index comes after the media data, so no offsets change. */
function withTracks(mp4: Buffer, count: number): Buffer {
  const moov = mp4.indexOf('moov') - 4;
  const start = mp4.indexOf('trak', moov) - 4;
  const track = mp4.subarray(start, start + mp4.readUInt32BE(start));
  const bytes = Buffer.concat([
    mp4.subarray(0, start),
    ...Array.from({ length: count }, () => track),
    mp4.subarray(start),
  ]);
  bytes.writeUInt32BE(mp4.readUInt32BE(moov) + count * track.length, moov);
  return bytes;
}

const CLIP: Omit<ClipSpec, 'path'> = {
  source: 'black',
  width: 16,
  height: 16,
  seconds: 1,
  frameRate: 10,
  tone: null,
};

async function generated(folder: string, name: string, clip: Partial<ClipSpec>): Promise<Buffer> {
  const path = join(folder, name);
  await generateClip({ ...CLIP, ...clip, path }, AbortSignal.timeout(120_000));
  return readFile(path);
}

/** Creates the corpus files by name; `folder` is for temporary files. */
function corpus(folder: string, otherJob: string): Record<string, () => Promise<Buffer>> {
  const targets = {
    passwd: 'file:///etc/passwd',
    loopback: 'http://127.0.0.1:9/segment.ts',
    'other-job': otherJob,
  };
  const scripts = Object.entries(targets).flatMap(([name, target]) => [
    [`playlist-${name}.mp4`, async () => playlist(target)] as const,
    [`concat-${name}.mp4`, async () => concatScript(target)] as const,
  ]);
  const cuts = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((tenth) => {
    const make = async (): Promise<Buffer> => {
      const bytes = await sample(tenth % 2 === 0 ? 'faststart.mp4' : 'portrait.mp4');
      return bytes.subarray(0, Math.floor((bytes.length * tenth) / 10));
    };
    return [`cut-at-${tenth}-tenths.mp4`, make] as const;
  });
  const changed = (change: (mp4: Buffer) => Buffer) => async () =>
    change(await sample('portrait.mp4'));
  const makeClip = (name: string, clip: Partial<ClipSpec>) => () => generated(folder, name, clip);
  return {
    ...Object.fromEntries(scripts),
    'attachment.mkv': async () => withAttachment(await sample('portrait.mkv')),
    'second-chunk.avi': async () => withSecondChunk(await sample('portrait.avi')),
    'external-track.mov': async () => readFile(await mediaSample('external-track.mov')),
    '16k.mp4': changed((mp4) => withPictureSize(mp4, 16_384, 16_384)),
    'endless-frames.mp4': changed((mp4) => withFrameTicks(mp4, 0x7fffffff)),
    'backward-frames.mp4': changed((mp4) => withFrameTicks(mp4, 0xffffff00)),
    '200-tracks.mp4': changed((mp4) => withTracks(mp4, 200)),
    '1x1.mp4': makeClip('1x1.mp4', { width: 1, height: 1 }),
    '1000-frames-a-second.mp4': makeClip('1000-frames-a-second.mp4', { frameRate: 1_000 }),
    'ten-hours.mp4': makeClip('ten-hours.mp4', {
      seconds: 36_000,
      frameRate: 0.1,
      keepPictures: 'eq(n,0)+eq(n,3599)',
    }),
    ...Object.fromEntries(cuts),
  };
}

/**
 * The corpus files whose names match; `folder` is for temporary files, and `otherJob` is an
 * existing file of another job.
 */
export async function hostileFiles(
  folder: string,
  otherJob: string,
  wanted: RegExp,
): Promise<HostileFile[]> {
  const files = Object.entries(corpus(folder, otherJob)).filter(([name]) => wanted.test(name));
  return await Promise.all(files.map(async ([name, make]) => ({ name, bytes: await make() })));
}

/** A seeded generator of numbers from 0 to 1 (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const FLIPPED: readonly ClipName[] = [
  'portrait.mp4',
  'portrait.mkv',
  'portrait.ts',
  'portrait.flv',
];
/** Corpus recipes with containers and decoders that the other damage tests rarely cover. */
const FLIPPED_RECIPES: readonly string[] = [
  'mpeg2video in vob',
  'mpeg1video in vob',
  'wmv2 in asf',
  'dvvideo in avi',
  'png in mov',
  'qtrle in mov',
  'huffyuv in avi',
  'cfhd in mov',
  'jpeg2000 in mov',
  'libtheora in ogg',
  'libvpx-vp9 in webm',
  'dca beside H.264 in mpegts',
  'truehd beside H.264 in matroska',
  'wavpack beside H.264 in matroska',
  'aac alone in adts',
  'animated GIF',
  'animated WebP',
];
/** Damaging headers finds more than damaging pictures. */
const HEADER_BYTES = 4_096;

/** A clip with a few bytes changed, deterministic for a seed. */
export async function flippedFile(seed: number): Promise<HostileFile> {
  const name = FLIPPED[seed % FLIPPED.length] ?? 'portrait.mp4';
  return { name: `seed-${seed}-${name}`, bytes: flipped(await sample(name), seed) };
}

/** The same for a file from the corpus of valid ones; `folder` is for temporary files. */
export async function flippedRecipe(seed: number, folder: string): Promise<HostileFile> {
  const name = FLIPPED_RECIPES[seed % FLIPPED_RECIPES.length];
  const recipe = RECIPES.find((one) => one.name === name);
  if (recipe === undefined) throw new Error(`There is no recipe ${name}.`);
  const path = join(folder, 'recipe');
  await writeFileOf(recipe, path);
  return { name: `seed-${seed} ${recipe.name}`, bytes: flipped(await readFile(path), seed) };
}

function flipped(clip: Buffer, seed: number): Buffer {
  const next = randomNumbers(seed);
  const bytes = Buffer.from(clip);
  const flips = 1 + Math.floor(next() * 16);
  for (let flip = 0; flip < flips; flip += 1) {
    const reach = next() < 0.5 ? Math.min(HEADER_BYTES, bytes.length) : bytes.length;
    // An MP4's index is at its end.
    const isAtEnd = reach === HEADER_BYTES && next() < 0.5;
    const position = Math.floor(next() * reach);
    bytes[isAtEnd ? bytes.length - 1 - position : position] = Math.floor(next() * 256);
  }
  return bytes;
}
