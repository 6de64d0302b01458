import { randomBytes, randomUUID } from 'node:crypto';
import {
  access,
  constants,
  mkdir,
  mkdtemp,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generateClip, type ClipSpec } from '../src/features/media/media.ts';
import { containerWithExternalTrack } from '../src/features/media/testing/external-track.ts';

/**
 * Media files for tests: clips made by the engine and hand-crafted hostile files, cached in the
 * system's temporary folder so that only the first run on a machine creates them.
 */

/** Increment when a sample changes, to invalidate the cache. */
const REVISION = 9;

type ClipOptions = Omit<ClipSpec, 'path'>;

const PORTRAIT: ClipOptions = {
  source: 'testsrc2',
  width: 360,
  height: 640,
  seconds: 2,
  frameRate: 30,
  tone: 440,
};

/** Valid clips by file name; the extension determines the container. */
const CLIPS = {
  'portrait.mp4': PORTRAIT,
  'full-hd.mp4': { ...PORTRAIT, width: 1080, height: 1920, seconds: 8 },
  'full-hd-3s.mp4': { ...PORTRAIT, width: 1080, height: 1920, seconds: 3 },
  'landscape.mp4': { ...PORTRAIT, width: 1280, height: 720, seconds: 5 },
  'hd-3s.mp4': { ...PORTRAIT, width: 1280, height: 720, seconds: 3 },
  'sixty-fps.mp4': { ...PORTRAIT, width: 720, height: 1280, frameRate: 60, seconds: 3 },
  'ntsc.mp4': { ...PORTRAIT, frameRate: 29.97, seconds: 5 },
  'odd-size.mp4': { ...PORTRAIT, width: 361, height: 641 },
  'small.mp4': { ...PORTRAIT, width: 160, height: 120 },
  'silent.mp4': { ...PORTRAIT, tone: null },
  'audio-only.m4a': { ...PORTRAIT, source: 'none', seconds: 5 },
  'rotated-90.mp4': {
    ...PORTRAIT,
    source: 'smptebars',
    width: 640,
    height: 360,
    rotationDegrees: 90,
  },
  'bars.mp4': { ...PORTRAIT, source: 'smptebars', width: 640, height: 360 },
  'hdr.mp4': { ...PORTRAIT, source: 'smptebars', width: 640, height: 360, hdr: 'pq' },
  'black-start.mp4': { ...PORTRAIT, blackSeconds: 0.5 },
  'black.mp4': { ...PORTRAIT, source: 'black' },
  'short-sound.mp4': { ...PORTRAIT, seconds: 5, toneSeconds: 1 },
  'long-sound.mp4': { ...PORTRAIT, toneSeconds: 5 },
  'faststart.mp4': { ...PORTRAIT, fastStart: true, seconds: 5 },
  'interlaced.mp4': {
    ...PORTRAIT,
    width: 360,
    height: 288,
    frameRate: 50,
    seconds: 5,
    interlaced: true,
  },
  /** Pictures stay still for up to three seconds; picture and tone start together. */
  'varying-rate.mp4': {
    ...PORTRAIT,
    seconds: 16,
    bFrames: 3,
    blackSeconds: 10,
    silentSeconds: 10,
    keepPictures: 'not(between(n,30,100))*not(between(n,150,220))*(not(mod(n,7))+gte(n,290))',
  },
  'fragmented.mp4': {
    ...PORTRAIT,
    seconds: 6,
    bFrames: 3,
    fragmented: true,
    blackSeconds: 3,
    silentSeconds: 3,
  },
  /** Five losses of 64 ms each. */
  'sound-losses.mkv': {
    ...PORTRAIT,
    seconds: 6,
    blackSeconds: 5,
    silentSeconds: 5,
    keepSound: 'gte(mod(n,40),3)',
  },
  /** Two pictures, 200 seconds apart. */
  'still.mp4': {
    ...PORTRAIT,
    width: 180,
    height: 320,
    seconds: 200,
    frameRate: 10,
    keepPictures: 'eq(n,0)+eq(n,1999)',
  },
  /** Long enough to be encoded in parts; picture and tone start together in the second of four. */
  'long.mp4': {
    ...PORTRAIT,
    width: 180,
    height: 320,
    seconds: 75,
    frameRate: 15,
    bFrames: 3,
    blackSeconds: 21,
    silentSeconds: 21,
  },
  /** Takes long enough to be watched during processing. */
  'early.mp4': { ...PORTRAIT, seconds: 100 },
  'hlg.mp4': { ...PORTRAIT, source: 'smptebars', width: 640, height: 360, hdr: 'hlg' },
  'dolby-vision.mp4': {
    ...PORTRAIT,
    source: 'smptebars',
    width: 640,
    height: 360,
    hdr: 'dolby-vision',
  },
  'ten-bit-422.mov': { ...PORTRAIT, codec: 'prores' },
  'ten-bit-422.mp4': { ...PORTRAIT, codec: 'h264-422' },
  /** Anamorphic like DV: 720×576 displayed as 1024×576. */
  'wide-pixels.mp4': { ...PORTRAIT, width: 720, height: 576, pixelAspect: [64, 45] },
  'surround.mp4': { ...PORTRAIT, seconds: 4, surround: true },
  /** The audio has an empty edit of 1.5 s, and reordered pictures one of two frames. */
  'late-sound.mp4': {
    ...PORTRAIT,
    seconds: 5,
    bFrames: 3,
    blackSeconds: 1.5,
    toneSeconds: 3.5,
    soundDelaySeconds: 1.5,
  },
  /** Only one of ten pictures is stored; the rest are repeats. */
  'repeats.ogv': { ...PORTRAIT, codec: 'theora', tone: null, seconds: 4, repeatsPictures: true },
  /** Eight pictures after the third key frame: too few for their own segment. */
  'short-last.mp4': { ...PORTRAIT, source: 'mandelbrot', seconds: 3.27 },
  'quiet.mp4': { ...PORTRAIT, seconds: 4, toneVolume: 0.1 },
  'loud.mp4': { ...PORTRAIT, seconds: 4, toneVolume: 7.5 },
  'tiny.mp4': { ...PORTRAIT, seconds: 0.3 },
  'portrait.mkv': PORTRAIT,
  'portrait.mov': PORTRAIT,
  'portrait.ts': PORTRAIT,
  'portrait.avi': PORTRAIT,
  'portrait.flv': PORTRAIT,
} as const satisfies Record<string, ClipOptions>;

export type ClipName = keyof typeof CLIPS;

const LOCAL_FILE = 'file:///etc/passwd';
const HTML = '<!doctype html><html><script>alert(1)</script></html>\n';
const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>\n';

async function clipStart(name: ClipName, share: number): Promise<Buffer> {
  const bytes = await readFile(await mediaSample(name));
  return bytes.subarray(0, Math.floor(bytes.length * share));
}

/** Files that must be rejected. */
export const HOSTILE_NAMES = [
  'no-index.mp4',
  'cut.mp4',
  'cut.avi',
  'cut.flv',
  'cut.ts',
  'empty.mp4',
  'page.mp4',
  'picture.mp4',
  'document.mp4',
  'playlist.mp4',
  'concat.mp4',
  'random.mp4',
  'header-then-garbage.mp4',
  'garbage-pictures.mp4',
  'external-track.mov',
] as const;

export type HostileName = (typeof HOSTILE_NAMES)[number];

const HOSTILE: Record<HostileName, () => Promise<Buffer>> = {
  /** The index is at the end of this clip, and the end is missing. */
  'no-index.mp4': () => clipStart('landscape.mp4', 0.9),
  /** The index is present and declares twice as much data as there is. */
  'cut.mp4': () => clipStart('faststart.mp4', 0.5),
  'cut.avi': () => clipStart('portrait.avi', 0.6),
  'cut.flv': () => clipStart('portrait.flv', 0.6),
  'cut.ts': () => clipStart('portrait.ts', 0.6),
  'empty.mp4': async () => Buffer.alloc(0),
  'page.mp4': async () => Buffer.from(HTML),
  'picture.mp4': async () => Buffer.from(SVG),
  'document.mp4': async () =>
    Buffer.from(`<?xml version="1.0"?><!DOCTYPE a SYSTEM "${LOCAL_FILE}">`),
  'playlist.mp4': async () =>
    Buffer.from(`#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n${LOCAL_FILE}\n#EXT-X-ENDLIST\n`),
  'concat.mp4': async () => Buffer.from(`ffconcat version 1.0\nfile ${LOCAL_FILE}\n`),
  'random.mp4': async () => randomBytes(100_000),
  'header-then-garbage.mp4': async () =>
    Buffer.concat([await clipStart('portrait.mp4', 0.001), randomBytes(100_000)]),
  /** A valid index, but all media data is noise. */
  'garbage-pictures.mp4': async () => withGarbageMedia(await clipStart('faststart.mp4', 1)),
  /** All tracks reference another file, which exists and is a valid clip. */
  'external-track.mov': async () =>
    containerWithExternalTrack(
      await clipStart('portrait.mov', 1),
      await mediaSample('portrait.mp4'),
    ),
};

/** Overwrites the payload of the `mdat` box after the index with noise. */
function withGarbageMedia(clip: Buffer): Buffer {
  const mdat = clip.indexOf('mdat') + 4;
  return Buffer.concat([clip.subarray(0, mdat), randomBytes(clip.length - mdat)]);
}

async function engineVersion(): Promise<string> {
  const packageFile = fileURLToPath(new URL('../package.json', import.meta.resolve('node-av')));
  const { version }: { version?: unknown } = JSON.parse(await readFile(packageFile, 'utf8'));
  return String(version);
}

let folderOfThisProcess: Promise<string> | null = null;

/**
 * The cache folder. The temporary folder is shared by all users, so if the expected folder belongs
 * to someone else, this process creates its own.
 */
function sampleFolder(): Promise<string> {
  folderOfThisProcess ??= findSampleFolder();
  return folderOfThisProcess;
}

async function findSampleFolder(): Promise<string> {
  const uid = process.getuid?.();
  const name = `reelfeed-media-samples-${uid ?? 'user'}-${await engineVersion()}-r${REVISION}`;
  const folder = join(tmpdir(), name);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const owner = await stat(folder);
    await access(folder, constants.W_OK);
    if (uid === undefined || owner.uid === uid) return folder;
  } catch {
    // The folder is unusable; create another one.
  }
  return mkdtemp(`${folder}-`);
}

function isClip(name: string): name is ClipName {
  return Object.hasOwn(CLIPS, name);
}

/**
 * The absolute path of a sample, created on first use. Concurrent test processes each make a copy,
 * and the last rename wins.
 */
export async function mediaSample(name: ClipName | HostileName): Promise<string> {
  const folder = await sampleFolder();
  const path = join(folder, name);
  if (await exists(path)) return path;
  // The extension stays last, because it determines the container.
  const draft = join(folder, `draft-${randomUUID()}-${name}`);
  try {
    if (isClip(name)) {
      await generateClip({ ...CLIPS[name], path: draft }, AbortSignal.timeout(120_000));
    } else {
      await writeFile(draft, await HOSTILE[name]());
    }
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
  return path;
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch {
    return false;
  }
}
