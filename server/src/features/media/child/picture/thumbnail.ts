import type { Frame } from 'node-av/lib';
import { fitShortSide } from '../../thumbnail-sizes.ts';
import { required } from '../engine/engine.ts';
import { FrameGraph, frameSeconds } from '../engine/frame-graph.ts';
import type { Orientation } from './orientation.ts';
import { stillGraph } from './picture-filters.ts';
import { meanLuma, stillFromFrame, writeStills, type Still } from './still.ts';

const MAX_SHORT_SIDE = 720;
/** A picture below this mean brightness (0 to 255) counts as black, so a later one is tried. */
const BLACK_LUMA = 16;
const SEARCH_SECONDS = 1;

export type ThumbnailOptions = {
  readonly folder: string;
  /** Video size after rotation. */
  readonly width: number;
  readonly height: number;
  readonly timeBase: { readonly num: number; readonly den: number };
  readonly orientation: Orientation;
};

/**
 * Writes thumbnails of the first picture, or of the first one within a second that is not black,
 * and drains the remaining frames. Returns the ThumbHash, or null if there was no frame.
 */
export async function writeThumbnails(
  frames: AsyncIterable<Frame>,
  options: ThumbnailOptions,
): Promise<string | null> {
  let first: Still | null = null;
  let chosen: Still | null = null;
  for await (const frame of frames) {
    if (chosen === null) {
      const isLate = (frameSeconds(frame, options.timeBase) ?? 0) > SEARCH_SECONDS;
      const still = await makeStill(frame, options);
      first ??= still;
      if (isLate) chosen = first;
      else if (meanLuma(still) >= BLACK_LUMA) chosen = still;
    }
    frame.free();
  }
  chosen ??= first;
  return chosen === null ? null : writeStills(chosen, options.folder);
}

/** An upright picture of a frame, with a short side of at most 720 pixels. */
export async function makeStill(frame: Frame, options: ThumbnailOptions): Promise<Still> {
  const size = fitShortSide(options, MAX_SHORT_SIDE);
  using graph = await FrameGraph.open(
    stillGraph(frame, { timeBase: options.timeBase }, size, options.orientation),
  );
  let still: Still | null = null;
  for (const input of [frame.clone(), null]) {
    for await (const output of graph.push(input)) {
      still ??= stillFromFrame(output);
      output.free();
    }
    input?.free();
  }
  return required(still, 'a still picture');
}
