import { stat } from 'node:fs/promises';
import path from 'node:path';
import {
  Codec,
  CodecContext,
  Dictionary,
  FormatContext,
  Rational,
  type Frame,
  type Packet,
  type Stream,
} from 'node-av/lib';
import {
  AVCOL_PRI_BT2020,
  AVCOL_RANGE_MPEG,
  AVCOL_SPC_BT2020_NCL,
  AVCOL_TRC_ARIB_STD_B67,
  AVCOL_TRC_SMPTE2084,
  AV_CHANNEL_LAYOUT_5POINT1,
  AV_CHANNEL_LAYOUT_STEREO,
  AV_CODEC_FLAG_GLOBAL_HEADER,
  AV_PIX_FMT_YUV420P,
  AV_PIX_FMT_YUV420P10LE,
  AV_PIX_FMT_YUV422P10LE,
  AV_PIX_FMT_YUV444P,
  AV_PKT_DATA_DISPLAYMATRIX,
  AV_PKT_DATA_DOVI_CONF,
  FF_ENCODER_LIBSVTAV1,
  FF_ENCODER_LIBTHEORA,
  FF_ENCODER_LIBX264,
  FF_ENCODER_LIBX265,
  FF_ENCODER_PRORES_KS,
  type AVPixelFormat,
  type FFVideoEncoder,
} from 'node-av/constants';
import type { ClipSpec } from '../../clip-spec.ts';
import type { GenerateResult, GenerateTask } from '../../tasks.ts';
import { attachPair, rowPairs } from '../picture/closed-captions.ts';
import { appendMetadata, DOLBY_VISION_CONFIGURATION } from '../picture/dolby-vision.ts';
import { check, required } from '../engine/engine.ts';
import {
  AUDIO_FRAME_SAMPLES,
  AUDIO_SAMPLE_RATE,
  encode,
  openAudioEncoder,
} from '../engine/encoders.ts';
import { FrameGraph, GRAPH_AUDIO_OUTPUT, GRAPH_OUTPUT } from '../engine/frame-graph.ts';
import { matrixForRotation } from '../picture/orientation.ts';
import { TaskMeter } from '../task-meter.ts';

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

function pictureGraph(clip: ClipSpec): string {
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

/** Escapes an expression for a filter chain, where a plain comma would end the filter. */
function escaped(expression: string): string {
  return expression.replaceAll(',', '\\,');
}

function soundGraph(clip: ClipSpec, tone: number): string {
  const silent = clip.silentSeconds ?? 0;
  const delay = clip.soundDelaySeconds ?? 0;
  return [
    `sine=frequency=${tone}:sample_rate=${AUDIO_SAMPLE_RATE}:duration=${clip.toneSeconds ?? clip.seconds}`,
    `volume=${clip.toneVolume ?? 0.5}`,
    ...(silent > 0 ? [`volume=0:enable=lt(t\\,${silent})`] : []),
    clip.surround === true
      ? 'pan=5.1|FL=c0|FR=c0|FC=c0|LFE=0*c0|BL=c0|BR=c0,aformat=sample_fmts=fltp'
      : 'aformat=sample_fmts=fltp:channel_layouts=stereo',
    `asetnsamples=n=${AUDIO_FRAME_SAMPLES}:p=0`,
    ...(delay > 0 ? [`asetpts=PTS+${delay}/TB`] : []),
    ...(clip.keepSound === undefined ? [] : [`aselect=${escaped(clip.keepSound)}`]),
    GRAPH_AUDIO_OUTPUT,
  ].join(',');
}

async function openPictureEncoder(clip: ClipSpec): Promise<CodecContext> {
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

/** With `repeatsPictures`, the number of identical pictures of which only the first is stored. */
const REPEATS = 10;

/** Fraction of a second at which its caption row starts, so that cuts at whole seconds split it. */
const CAPTION_START = 2 / 3;

type Part = {
  readonly stream: Stream;
  readonly encoder: CodecContext;
  readonly graph: FrameGraph;
  readonly repeats: boolean;
  readonly isDolbyVision: boolean;
  readonly closedCaptions: string | null;
  packets: number;
  endSeconds: number;
};

async function addPart(
  muxer: FormatContext,
  encoder: CodecContext,
  graphText: string,
  { repeats = false, isDolbyVision = false, closedCaptions = null as string | null } = {},
): Promise<Part> {
  const stream = muxer.newStream(null);
  check(stream.codecpar.fromContext(encoder), 'set stream parameters');
  stream.timeBase = encoder.timeBase;
  stream.sampleAspectRatio = encoder.sampleAspectRatio;
  const graph = await FrameGraph.open(graphText);
  const options = { repeats, isDolbyVision, closedCaptions };
  return { stream, encoder, graph, ...options, packets: 0, endSeconds: 0 };
}

async function write(muxer: FormatContext, part: Part, packets: AsyncIterable<Packet>) {
  for await (const packet of packets) {
    if (packet.duration === 0n) packet.duration = 1n;
    packet.rescaleTs(part.encoder.timeBase, part.stream.timeBase);
    packet.streamIndex = part.stream.index;
    part.packets += 1;
    if (part.repeats && (part.packets - 1) % REPEATS !== 0) packet.data = Buffer.alloc(0);
    if (part.isDolbyVision) appendMetadata(packet);
    check(await muxer.interleavedWriteFrame(packet), 'write clip');
    packet.free();
  }
}

function addCaptions(frame: Frame, { closedCaptions, encoder }: Part): void {
  if (closedCaptions === null) return;
  const rate = Math.round(encoder.framerate.toDouble());
  const place = Number(frame.pts) - Math.floor(rate * CAPTION_START);
  const row = rowPairs(`${closedCaptions}${Math.floor(place / rate)} `);
  attachPair(frame, { pairs: place < 0 ? [] : row, place: Math.max(0, place) % rate, rate });
}

/** Writes one part and yields after each frame, so that parts can be interleaved. */
async function* writePart(
  muxer: FormatContext,
  part: Part,
  meter: TaskMeter,
): AsyncGenerator<void> {
  const secondsPerTick = part.encoder.timeBase.toDouble();
  for await (const frame of part.graph.pull()) {
    addCaptions(frame, part);
    await write(muxer, part, encode(part.encoder, frame));
    part.endSeconds = Number(frame.pts) * secondsPerTick;
    meter.reachedTime(part.endSeconds);
    frame.free();
    yield;
  }
  await write(muxer, part, encode(part.encoder, null));
  part.graph[Symbol.dispose]();
}

/** Always advances the part that is furthest behind, which keeps the file well interleaved. */
async function writeParts(muxer: FormatContext, parts: Part[], meter: TaskMeter): Promise<void> {
  let open = parts.map((part) => ({ part, turns: writePart(muxer, part, meter) }));
  while (open.length > 0) {
    const behind = open.reduce((a, b) => (b.part.endSeconds < a.part.endSeconds ? b : a));
    const { done } = await behind.turns.next();
    if (done === true) open = open.filter((entry) => entry !== behind);
  }
}

/** Writes an H.264 (or HEVC) and AAC file from FFmpeg's synthetic video and tone sources. */
export async function generate(
  task: GenerateTask,
  watch: (meter: TaskMeter) => void,
): Promise<GenerateResult> {
  const { clip } = task;
  const meter = new TaskMeter({ seconds: clip.seconds, bytes: 0 });
  watch(meter);
  const muxer = new FormatContext();
  check(muxer.allocOutputContext2(null, null, clip.path), 'open clip');
  const parts: Part[] = [];
  if (clip.source !== 'none') {
    const encoder = await openPictureEncoder(clip);
    const isDolbyVision = clip.hdr === 'dolby-vision';
    const { closedCaptions = null } = clip;
    const options = { repeats: clip.repeatsPictures === true, isDolbyVision, closedCaptions };
    parts.push(await addPart(muxer, encoder, pictureGraph(clip), options));
  }
  if (clip.tone !== null) {
    const layout = clip.surround === true ? AV_CHANNEL_LAYOUT_5POINT1 : AV_CHANNEL_LAYOUT_STEREO;
    const encoder = await openAudioEncoder(layout);
    parts.push(await addPart(muxer, encoder, soundGraph(clip, clip.tone)));
  }
  const rotation = clip.rotationDegrees ?? 0;
  if (rotation !== 0) {
    parts[0]?.stream.codecpar.addCodedSideData(
      AV_PKT_DATA_DISPLAYMATRIX,
      matrixForRotation(rotation),
    );
  }
  if (clip.hdr === 'dolby-vision') {
    const parameters = parts[0]?.stream.codecpar;
    parameters?.addCodedSideData(AV_PKT_DATA_DOVI_CONF, DOLBY_VISION_CONFIGURATION);
  }
  check(await muxer.openOutput(), 'open clip file');
  const movFlags = [
    ...(clip.fastStart === true ? ['+faststart'] : []),
    ...(clip.fragmented === true ? ['+frag_keyframe+empty_moov+default_base_moof'] : []),
  ].join('');
  using options = Dictionary.fromObject({
    ...(movFlags === '' ? {} : { movflags: movFlags }),
    ...(clip.hdr === 'dolby-vision' ? { strict: 'unofficial' } : {}),
  });
  check(await muxer.writeHeader(options), 'write clip header');
  await writeParts(muxer, parts, meter);
  check(await muxer.writeTrailer(), 'finish clip');
  await muxer.closeOutput();
  return { sizeBytes: (await stat(clip.path)).size };
}
