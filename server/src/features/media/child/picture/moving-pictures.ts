import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Frame } from 'node-av/lib';
import sharp from 'sharp';
import { DERIVED_FILES, type DerivedFile } from '../../derived-files.ts';
import { fitShortSide } from '../../thumbnail-sizes.ts';
import { storyboardLayout, storyboardTrack, type StoryboardLayout } from '../../storyboard.ts';
import { FrameGraph } from '../engine/frame-graph.ts';
import type { Orientation } from './orientation.ts';
import { sampledGraph } from './picture-filters.ts';
import { imageOf, stillFromFrame, type Still } from './still.ts';

const STORYBOARD_IMAGE = 'storyboard.jpg';
const PREVIEW_SECONDS = 3;
const PREVIEW_RATE = 10;
const PREVIEW_SHORT_SIDE = 270;
/** Videos often open with a title or a fade; the preview starts after it. */
const PREVIEW_START = 0.2;
const TILE_SHORT_SIDE = 90;

export type MovingPictureOptions = {
  readonly outputDir: string;
  readonly durationSeconds: number;
  /** Video size after rotation. */
  readonly width: number;
  readonly height: number;
  readonly timeBase: { readonly num: number; readonly den: number };
  readonly orientation: Orientation;
};

/** Runs frames through a graph that is built for the first one. */
class Sampler {
  readonly #describe: (frame: Frame) => string;
  readonly stills: Still[] = [];
  #graph: FrameGraph | null = null;

  constructor(describe: (frame: Frame) => string) {
    this.#describe = describe;
  }

  /** Processes a frame, which still belongs to the caller. Null flushes. */
  async take(frame: Frame | null): Promise<void> {
    if (frame !== null) this.#graph ??= await FrameGraph.open(this.#describe(frame));
    if (this.#graph === null) return;
    const input = frame?.clone() ?? null;
    for await (const output of this.#graph.push(input)) {
      this.stills.push(stillFromFrame(output));
      output.free();
    }
    input?.free();
    if (frame === null) this.#graph[Symbol.dispose]();
  }
}

/**
 * Writes a three-second preview as animated WebP, and a storyboard: a sprite sheet of small
 * pictures with a WebVTT track of their times.
 */
export async function writeMovingPictures(
  frames: AsyncIterable<Frame>,
  options: MovingPictureOptions,
): Promise<void> {
  const { durationSeconds, orientation, timeBase } = options;
  const tile = fitShortSide(options, TILE_SHORT_SIDE);
  const layout = storyboardLayout(durationSeconds, tile);
  const start = Math.max(
    0,
    Math.min(durationSeconds * PREVIEW_START, durationSeconds - PREVIEW_SECONDS),
  );
  const preview = new Sampler((frame) =>
    sampledGraph(frame, { timeBase }, fitShortSide(options, PREVIEW_SHORT_SIDE), orientation, [
      `select=between(t\\,${start}\\,${start + PREVIEW_SECONDS})`,
      'setpts=PTS-STARTPTS',
      `fps=${PREVIEW_RATE}`,
    ]),
  );
  const storyboard = new Sampler((frame) =>
    sampledGraph(frame, { timeBase }, tile, orientation, [
      `fps=fps=${layout.count * 1000}/${Math.ceil(durationSeconds * 1000)}:start_time=0`,
    ]),
  );
  for await (const frame of frames) {
    await preview.take(frame);
    await storyboard.take(frame);
    frame.free();
  }
  await preview.take(null);
  await storyboard.take(null);
  await writePreview(preview.stills.slice(0, PREVIEW_SECONDS * PREVIEW_RATE), options.outputDir);
  await writeStoryboard(storyboard.stills, layout, options.outputDir);
}

async function derivedFolder(outputDir: string, kind: DerivedFile): Promise<string> {
  const folder = join(outputDir, kind);
  await mkdir(folder);
  return folder;
}

async function writePreview(stills: readonly Still[], outputDir: string): Promise<void> {
  const [first] = stills;
  if (first === undefined) return;
  const { width, height } = first;
  const folder = await derivedFolder(outputDir, 'preview');
  const raw = { width, height: height * stills.length, channels: 3, pageHeight: height } as const;
  await sharp(Buffer.concat(stills.map(({ data }) => data)), { raw })
    .webp({ quality: 55, effort: 3, loop: 0, delay: stills.map(() => 1_000 / PREVIEW_RATE) })
    .toFile(join(folder, DERIVED_FILES.preview));
}

async function writeStoryboard(
  stills: readonly Still[],
  layout: StoryboardLayout,
  outputDir: string,
): Promise<void> {
  const last = stills.at(-1);
  if (last === undefined) return;
  const folder = await derivedFolder(outputDir, 'storyboard');
  const { tile, columns, rows } = layout;
  const pictures = await Promise.all(
    layout.tiles.map(async ({ x, y }, index) => {
      const input = await imageOf(stills[index] ?? last)
        .png()
        .toBuffer();
      return { input, left: x, top: y };
    }),
  );
  const size = { width: tile.width * columns, height: tile.height * rows };
  await sharp({ create: { ...size, channels: 3, background: '#000000' } })
    .composite(pictures)
    .jpeg({ quality: 70 })
    .toFile(join(folder, STORYBOARD_IMAGE));
  const track = storyboardTrack(layout, STORYBOARD_IMAGE);
  await writeFile(join(folder, DERIVED_FILES.storyboard), track);
}
