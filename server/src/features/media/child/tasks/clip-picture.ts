/** The video of a synthetic clip: its picture, as a filter graph, and its encoder. */
import path from 'node:path';
import { Codec, CodecContext, Dictionary, Rational } from 'node-av/lib';
import {
  AVCOL_PRI_BT2020,
  AVCOL_RANGE_MPEG,
  AVCOL_SPC_BT2020_NCL,
  AVCOL_TRC_ARIB_STD_B67,
  AVCOL_TRC_SMPTE2084,
  AV_CODEC_FLAG_GLOBAL_HEADER,
  AV_PIX_FMT_YUV420P,
  AV_PIX_FMT_YUV420P10LE,
  AV_PIX_FMT_YUV422P10LE,
  AV_PIX_FMT_YUV444P,
  FF_ENCODER_LIBSVTAV1,
  FF_ENCODER_LIBTHEORA,
  FF_ENCODER_LIBX264,
  FF_ENCODER_LIBX265,
  FF_ENCODER_PRORES_KS,
  type AVPixelFormat,
  type FFVideoEncoder,
} from 'node-av/constants';
import type { ClipSpec } from '../../clip-spec.ts';
import { check, required } from '../engine/engine.ts';
import { GRAPH_OUTPUT } from '../engine/frame-graph.ts';
import { escaped } from './filter-text.ts';

/** With `repeatsPictures`, the number of identical pictures of which only the first is stored. */
export const REPEATS = 10;

const CRF = '21';
const PIXELS_PER_CELL = 6;

function cellCount(pixels: number): number {
  return Math.max(16, Math.round(pixels / PIXELS_PER_CELL));
}

/** The video source in FFmpeg's filter syntax. */
function pictureSource(clip: ClipSpec): string {
  const size = `s=${clip.width}x${clip.height}:r=${clip.frameRate}`;
  // Cells of one pixel would look like noise and encode like it.
  const cells = `s=${cellCount(clip.width)}x${cellCount(clip.height)}:r=${clip.frameRate}`;
  const enlarge = `scale=${clip.width}:${clip.height}:flags=neighbor`;
  const smaller = clip.drawnSmaller ?? 1;
  const drawn = `s=${Math.ceil(clip.width / smaller)}x${Math.ceil(clip.height / smaller)}:r=${clip.frameRate}`;
  const enlargeSmoothly = smaller === 1 ? '' : `,scale=${clip.width}:${clip.height}:flags=bicubic`;
  const seed = clip.seed ?? 1;
  switch (clip.source) {
    case 'testsrc2':
    case 'smptebars':
      return `${clip.source}=${size}`;
    case 'black':
      return `color=c=black:${size}`;
    case 'mandelbrot':
      return `mandelbrot=${drawn}:start_scale=${3 / (1 + (seed % 7))}:maxiter=256${enlargeSmoothly}`;
    case 'gradients':
      return `gradients=${drawn}:seed=${seed}:speed=0.02${enlargeSmoothly}`;
    case 'life':
      return `life=${cells}:seed=${seed}:mold=24:ratio=0.2:death_color=#402060:life_color=#ffd060,${enlarge}`;
    case 'cellauto':
      return `cellauto=${cells}:seed=${seed}:rule=${18 + (seed % 4) * 12},${enlarge}`;
    case 'layers':
      return layeredPicture(clip);
    case 'none':
      throw new Error('An audio-only clip has no video.');
    default:
      return clip.source satisfies never;
  }
}

/** Stacked image layers. Each moves by half its width or height, then starts over. */
function layeredPicture({ layers = [], frameRate, width, height }: ClipSpec): string {
  // The task's folder is the working directory, so the name needs no escaping. The pixel format is
  // converted before looping, so that it is done once rather than per frame.
  const still = (file: string) =>
    `movie=${path.basename(file)},format=yuva420p,loop=-1:1,settb=1/${frameRate},setpts=N`;
  const [ground, ...moving] = layers;
  if (ground === undefined) throw new Error('A layered clip requires at least one layer.');
  const place = (speed: number, length: number) =>
    speed === 0 ? '0' : escaped(`-mod(mod(t*${speed},${length})+${length},${length})`);
  const sources = moving.map(({ file }, index) => `${still(file)}[layer${index}];`);
  const overlays = moving.map(
    ({ speedX, speedY }, index) =>
      `[under${index}];[under${index}][layer${index}]overlay=x=${place(speedX, width)}:y=${place(speedY, height)}`,
  );
  return [...sources, `${still(ground.file)},format=yuv420p`, ...overlays].join('');
}

/** Encoding options of a clip's video. */
type PictureCodec = {
  readonly encoder: FFVideoEncoder;
  readonly pixelFormat: { readonly id: AVPixelFormat; readonly name: string };
  readonly options: Record<string, string | number>;
};

const YUV420P = { id: AV_PIX_FMT_YUV420P, name: 'yuv420p' };
const YUV420P10 = { id: AV_PIX_FMT_YUV420P10LE, name: 'yuv420p10le' };
const YUV422P10 = { id: AV_PIX_FMT_YUV422P10LE, name: 'yuv422p10le' };
const YUV444P = { id: AV_PIX_FMT_YUV444P, name: 'yuv444p' };
const X264_OPTIONS = { preset: 'ultrafast', crf: CRF };

function pictureCodec(clip: ClipSpec): PictureCodec {
  if (clip.hdr !== undefined) {
    const options = { ...X264_OPTIONS, 'x265-params': 'log-level=none' };
    return { encoder: FF_ENCODER_LIBX265, pixelFormat: YUV420P10, options };
  }
  switch (clip.codec) {
    case 'hevc': {
      const options = { ...X264_OPTIONS, 'x265-params': 'log-level=none' };
      return { encoder: FF_ENCODER_LIBX265, pixelFormat: YUV420P, options };
    }
    case 'av1': {
      const options = { preset: 12, crf: 40 };
      return { encoder: FF_ENCODER_LIBSVTAV1, pixelFormat: YUV420P, options };
    }
    case 'theora':
      return { encoder: FF_ENCODER_LIBTHEORA, pixelFormat: YUV420P, options: {} };
    case 'prores':
      return { encoder: FF_ENCODER_PRORES_KS, pixelFormat: YUV422P10, options: {} };
    case 'h264-422':
      return { encoder: FF_ENCODER_LIBX264, pixelFormat: YUV422P10, options: X264_OPTIONS };
    case undefined: {
      // 4:2:0 halves the chroma planes, so an odd size requires 4:4:4.
      const isOdd = clip.width % 2 === 1 || clip.height % 2 === 1;
      const pixelFormat = isOdd ? YUV444P : YUV420P;
      return { encoder: FF_ENCODER_LIBX264, pixelFormat, options: X264_OPTIONS };
    }
    default:
      return clip.codec satisfies never;
  }
}

export function pictureGraph(clip: ClipSpec): string {
  const black = clip.blackSeconds ?? 0;
  return [
    pictureSource(clip),
    ...(clip.repeatsPictures === true ? [`framestep=${REPEATS}`, `fps=${clip.frameRate}`] : []),
    `trim=duration=${clip.seconds}`,
    ...(black > 0 ? [`drawbox=c=black:t=fill:enable=lt(t\\,${black})`] : []),
    ...(clip.interlaced === true ? ['interlace=scan=tff'] : []),
    ...(clip.keepPictures === undefined ? [] : [`select=${escaped(clip.keepPictures)}`]),
    `format=${pictureCodec(clip).pixelFormat.name}`,
    GRAPH_OUTPUT,
  ].join(',');
}

export async function openPictureEncoder(clip: ClipSpec): Promise<CodecContext> {
  const { encoder, pixelFormat, options: codecOptions } = pictureCodec(clip);
  const codec = required(Codec.findEncoderByName(encoder), encoder);
  const context = new CodecContext();
  context.allocContext3(codec);
  // Two frames become the two fields of one.
  const rate = Math.round(clip.frameRate * (clip.interlaced === true ? 500 : 1000));
  context.width = clip.width;
  context.height = clip.height;
  context.pixelFormat = pixelFormat.id;
  context.timeBase = new Rational(1000, rate);
  context.framerate = new Rational(rate, 1000);
  context.gopSize = Math.round(clip.frameRate * 2);
  if (clip.pixelAspect !== undefined) context.sampleAspectRatio = new Rational(...clip.pixelAspect);
  if (clip.hdr !== undefined) {
    context.colorRange = AVCOL_RANGE_MPEG;
    context.colorPrimaries = AVCOL_PRI_BT2020;
    context.colorTrc = clip.hdr === 'pq' ? AVCOL_TRC_SMPTE2084 : AVCOL_TRC_ARIB_STD_B67;
    context.colorSpace = AVCOL_SPC_BT2020_NCL;
  }
  context.setFlags(AV_CODEC_FLAG_GLOBAL_HEADER);
  using options = Dictionary.fromObject({
    ...codecOptions,
    ...(clip.bFrames === undefined ? {} : { bf: clip.bFrames }),
    ...(clip.interlaced === true ? { 'x264-params': 'tff=1' } : {}),
  });
  check(await context.open2(codec, options), 'open video encoder');
  return context;
}
