import { writeFile } from 'node:fs/promises';
import { Codec, CodecContext, type Packet, Rational, type Frame } from 'node-av/lib';
import {
  AVCOL_RANGE_JPEG,
  AV_CODEC_FLAG_QSCALE,
  AV_PIX_FMT_YUV420P,
  FF_ENCODER_MJPEG,
} from 'node-av/constants';
import { check, required } from './engine.ts';
import { encode } from './encoders.ts';
import { FrameGraph, frameSeconds } from './frame-graph.ts';
import type { Orientation } from './orientation.ts';
import { stillGraph } from './picture-filters.ts';

const MAX_SHORT_SIDE = 720;
/** Below this mean brightness (0 to 255) a picture counts as black and a later one is tried. */
const BLACK_LUMA = 16;
const SEARCH_SECONDS = 1;
/** MJPEG quantizer: 2 is best, 31 is worst. */
const QUANTIZER = 4;
/** FF_QP2LAMBDA: the unit in which FFmpeg wants a fixed quantizer. */
const LAMBDA_PER_QUANTIZER = 118;

export interface ThumbnailOptions {
  readonly path: string;
  /** Size of the video after rotation. */
  readonly width: number;
  readonly height: number;
  readonly timeBase: { readonly num: number; readonly den: number };
  readonly orientation: Orientation;
}

/**
 * Writes a JPEG of the first picture, or of the first one within a second that is not black, and
 * lets the rest of the frames pass.
 */
export async function writeThumbnail(
  frames: AsyncIterable<Frame>,
  options: ThumbnailOptions,
): Promise<void> {
  let first: Frame | null = null;
  let isDone = false;
  for await (const frame of frames) {
    if (!isDone) {
      const still = await makeStill(frame, options);
      const isLate = (frameSeconds(frame, options.timeBase) ?? 0) > SEARCH_SECONDS;
      if (meanLuma(still) >= BLACK_LUMA && !isLate) {
        await writeJpeg(still, options.path);
        isDone = true;
        still.free();
      } else if (first === null) {
        first = still;
      } else {
        still.free();
      }
      if (isLate && !isDone && first !== null) {
        await writeJpeg(first, options.path);
        isDone = true;
      }
    }
    frame.free();
  }
  if (!isDone && first !== null) await writeJpeg(first, options.path);
  first?.free();
}

function stillSize(options: ThumbnailOptions): { width: number; height: number } {
  const scale = Math.min(1, MAX_SHORT_SIDE / Math.min(options.width, options.height));
  const even = (value: number): number => Math.max(2, Math.floor((value * scale) / 2) * 2);
  return { width: even(options.width), height: even(options.height) };
}

async function makeStill(frame: Frame, options: ThumbnailOptions): Promise<Frame> {
  using graph = await FrameGraph.open(
    stillGraph(frame, { timeBase: options.timeBase }, stillSize(options), options.orientation),
  );
  let still: Frame | null = null;
  for (const input of [frame.clone(), null]) {
    for await (const output of graph.push(input)) {
      if (still === null) still = output;
      else output.free();
    }
    input?.free();
  }
  return required(still, 'a still picture');
}

/** Mean brightness from every fourth pixel of every fourth row. */
function meanLuma(still: Frame): number {
  const plane = still.data?.[0];
  const stride = still.linesize[0] ?? still.width;
  if (plane === undefined) return 0;
  let sum = 0;
  let count = 0;
  for (let row = 0; row < still.height; row += 4) {
    for (let column = 0; column < still.width; column += 4) {
      sum += plane[row * stride + column] ?? 0;
      count += 1;
    }
  }
  return sum / count;
}

async function writeJpeg(still: Frame, path: string): Promise<void> {
  const codec = required(Codec.findEncoderByName(FF_ENCODER_MJPEG), 'mjpeg');
  using context = new CodecContext();
  context.allocContext3(codec);
  context.width = still.width;
  context.height = still.height;
  context.pixelFormat = AV_PIX_FMT_YUV420P;
  context.colorRange = AVCOL_RANGE_JPEG;
  context.timeBase = new Rational(1, 1);
  context.setFlags(AV_CODEC_FLAG_QSCALE);
  context.globalQuality = QUANTIZER * LAMBDA_PER_QUANTIZER;
  check(await context.open2(codec, null), 'open JPEG encoder');
  still.pts = 0n;
  still.quality = QUANTIZER * LAMBDA_PER_QUANTIZER;
  const parts: Buffer[] = [];
  const take = async (packets: AsyncIterable<Packet>): Promise<void> => {
    for await (const packet of packets) {
      parts.push(Buffer.from(packet.data ?? []));
      packet.free();
    }
  };
  await take(encode(context, still));
  await take(encode(context, null));
  await writeFile(path, Buffer.concat(parts));
}
