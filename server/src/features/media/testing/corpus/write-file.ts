import { readFile, rm, writeFile } from 'node:fs/promises';
import {
  avGetPixFmtFromName,
  avGetSampleFmtName,
  Codec,
  CodecContext,
  Dictionary,
  FormatContext,
  Packet,
  Rational,
  type Stream,
} from 'node-av/lib';
import {
  AVCOL_PRI_BT2020,
  AVCOL_PRI_BT709,
  AVCOL_PRI_SMPTE170M,
  AVCOL_RANGE_JPEG,
  AVCOL_RANGE_MPEG,
  AVCOL_SPC_BT2020_NCL,
  AVCOL_SPC_BT709,
  AVCOL_SPC_SMPTE170M,
  AVCOL_TRC_ARIB_STD_B67,
  AVCOL_TRC_BT709,
  AVCOL_TRC_SMPTE170M,
  AVCOL_TRC_SMPTE2084,
  AVFMT_GLOBALHEADER,
  AVMEDIA_TYPE_SUBTITLE,
  AV_CHANNEL_LAYOUT_5POINT1,
  AV_CHANNEL_LAYOUT_5POINT1_BACK,
  AV_CHANNEL_LAYOUT_7POINT1,
  AV_CHANNEL_LAYOUT_MONO,
  AV_CHANNEL_LAYOUT_STEREO,
  AV_CODEC_FLAG_GLOBAL_HEADER,
  AV_CODEC_ID_MOV_TEXT,
  AV_CODEC_ID_SUBRIP,
  AV_DISPOSITION_DEFAULT,
  AV_PKT_DATA_DISPLAYMATRIX,
  AV_PKT_DATA_DOVI_CONF,
  type FFVideoEncoder,
} from 'node-av/constants';
import { check, required } from '../../child/engine/engine.ts';
import { encode } from '../../child/engine/encoders.ts';
import { FrameGraph, GRAPH_AUDIO_OUTPUT, GRAPH_OUTPUT } from '../../child/engine/frame-graph.ts';
import { matrixForRotation } from '../../child/picture/orientation.ts';
import type { AudioRecipe, Recipe, StreamRecipe, SubtitleRecipe, VideoRecipe } from './recipe.ts';

/** Writes a recipe's file with the packaged FFmpeg, independently of how other clips are made. */

/** Video and tone marks start together at a time that falls on a frame at every rate. */
export const MARK_SECONDS = 1;
const DEFAULT_SECONDS = 2;
const STRICT = -2;

const COLORS = {
  bt709: [AVCOL_PRI_BT709, AVCOL_TRC_BT709, AVCOL_SPC_BT709, AVCOL_RANGE_MPEG],
  bt601: [AVCOL_PRI_SMPTE170M, AVCOL_TRC_SMPTE170M, AVCOL_SPC_SMPTE170M, AVCOL_RANGE_MPEG],
  full: [AVCOL_PRI_BT709, AVCOL_TRC_BT709, AVCOL_SPC_BT709, AVCOL_RANGE_JPEG],
  pq: [AVCOL_PRI_BT2020, AVCOL_TRC_SMPTE2084, AVCOL_SPC_BT2020_NCL, AVCOL_RANGE_MPEG],
  hlg: [AVCOL_PRI_BT2020, AVCOL_TRC_ARIB_STD_B67, AVCOL_SPC_BT2020_NCL, AVCOL_RANGE_MPEG],
} as const;

const LAYOUTS = {
  mono: AV_CHANNEL_LAYOUT_MONO,
  stereo: AV_CHANNEL_LAYOUT_STEREO,
  '5.1': AV_CHANNEL_LAYOUT_5POINT1_BACK,
  '5.1(side)': AV_CHANNEL_LAYOUT_5POINT1,
  '7.1': AV_CHANNEL_LAYOUT_7POINT1,
} as const;

type Track = {
  readonly stream: Stream;
  /** Packets in the time base of `from`, in order. */
  readonly packets: AsyncGenerator<Packet>;
  readonly from: { num: number; den: number };
  readonly delaySeconds: number;
};

function pictureGraph(video: VideoRecipe): string {
  const { width = 320, height = 180, pixels = 'yuv420p', rate = '25/1' } = video;
  const range = video.color === 'full' ? 'pc' : 'tv';
  const matrix = video.color === 'bt601' ? 'smpte170m' : 'bt709';
  const scale =
    video.color === undefined ? [] : [`scale=out_range=${range}:out_color_matrix=${matrix}`];
  return [
    `testsrc2=s=${width}x${height}:r=${rate}:d=${video.seconds ?? DEFAULT_SECONDS}`,
    `drawbox=c=black:t=fill:enable=lt(t\\,${MARK_SECONDS})`,
    ...(video.filter === undefined ? [] : [video.filter]),
    ...scale,
    `format=${pixels}`,
    `settb=${rate.split('/').toReversed().join('/')}`,
    GRAPH_OUTPUT,
  ].join(',');
}

function soundGraph(audio: AudioRecipe, encoder: CodecContext, format: string): string {
  const rate = audio.sampleRate ?? 48_000;
  return [
    `sine=frequency=440:sample_rate=${rate}:duration=${audio.seconds ?? DEFAULT_SECONDS}`,
    'volume=4',
    `volume=0:enable=lt(t\\,${MARK_SECONDS})`,
    ...(audio.filter === undefined ? [] : [audio.filter]),
    `aformat=sample_fmts=${format}:channel_layouts=${audio.layout ?? 'stereo'}`,
    ...(encoder.frameSize > 0 ? [`asetnsamples=n=${encoder.frameSize}:p=0`] : []),
    `asettb=1/${rate}`,
    GRAPH_AUDIO_OUTPUT,
  ].join(',');
}

async function* encoded(graphText: string, encoder: CodecContext): AsyncGenerator<Packet> {
  using graph = await FrameGraph.open(graphText);
  for await (const frame of graph.pull()) {
    yield* encode(encoder, frame);
    frame.free();
  }
  yield* encode(encoder, null);
}

async function addVideo(muxer: FormatContext, video: VideoRecipe): Promise<Track> {
  const codec = required(Codec.findEncoderByName(video.encoder as FFVideoEncoder), video.encoder);
  const encoder = new CodecContext();
  encoder.allocContext3(codec);
  const [num = 25, den = 1] = (video.rate ?? '25/1').split('/').map(Number);
  encoder.width = video.width ?? 320;
  encoder.height = video.height ?? 180;
  encoder.pixelFormat = avGetPixFmtFromName(video.pixels ?? 'yuv420p');
  encoder.timeBase = new Rational(den, num);
  encoder.framerate = new Rational(num, den);
  encoder.gopSize = Math.ceil(num / den);
  encoder.bitRate = 4_000_000n;
  if (video.aspect !== undefined) encoder.sampleAspectRatio = new Rational(...video.aspect);
  if (video.color !== undefined) {
    const [primaries, transfer, matrix, range] = COLORS[video.color];
    encoder.colorPrimaries = primaries;
    encoder.colorTrc = transfer;
    encoder.colorSpace = matrix;
    encoder.colorRange = range;
  }
  if (((muxer.oformat?.flags ?? 0) & AVFMT_GLOBALHEADER) !== 0) {
    encoder.setFlags(AV_CODEC_FLAG_GLOBAL_HEADER);
  }
  using options = Dictionary.fromObject({ strict: STRICT, ...video.options });
  check(await encoder.open2(codec, options), `open ${video.encoder}`);
  const stream = addStream(muxer, encoder, video);
  stream.avgFrameRate = encoder.framerate;
  stream.sampleAspectRatio = encoder.sampleAspectRatio;
  if (video.rotation !== undefined) {
    const matrix = matrixForRotation(video.rotation);
    stream.codecpar.addCodedSideData(AV_PKT_DATA_DISPLAYMATRIX, matrix);
  }
  if (video.doviProfile !== undefined) {
    const compatibility = video.doviProfile === 8 ? 4 : 0;
    const configuration = Buffer.from([1, 0, video.doviProfile, 4, 1, 0, 1, compatibility, 0]);
    stream.codecpar.addCodedSideData(AV_PKT_DATA_DOVI_CONF, configuration);
  }
  const delaySeconds = video.delaySeconds ?? 0;
  const packets = encoded(pictureGraph(video), encoder);
  return { stream, packets, from: encoder.timeBase, delaySeconds };
}

async function addAudio(muxer: FormatContext, audio: AudioRecipe): Promise<Track> {
  const codec = required(Codec.findEncoderByName(audio.encoder as FFVideoEncoder), audio.encoder);
  const encoder = new CodecContext();
  encoder.allocContext3(codec);
  encoder.sampleRate = audio.sampleRate ?? 48_000;
  const format = required(codec.sampleFormats?.[0], 'a sample format');
  encoder.sampleFormat = format;
  encoder.channelLayout = LAYOUTS[(audio.layout ?? 'stereo') as keyof typeof LAYOUTS];
  encoder.bitRate = 128_000n;
  encoder.timeBase = new Rational(1, encoder.sampleRate);
  if (((muxer.oformat?.flags ?? 0) & AVFMT_GLOBALHEADER) !== 0) {
    encoder.setFlags(AV_CODEC_FLAG_GLOBAL_HEADER);
  }
  using options = Dictionary.fromObject({ strict: STRICT, ...audio.options });
  check(await encoder.open2(codec, options), `open ${audio.encoder}`);
  const stream = addStream(muxer, encoder, audio);
  if (audio.language !== undefined) {
    stream.metadata = Dictionary.fromObject({ language: audio.language });
  }
  const name = avGetSampleFmtName(format) ?? 'fltp';
  const packets = encoded(soundGraph(audio, encoder, name), encoder);
  return { stream, packets, from: encoder.timeBase, delaySeconds: audio.delaySeconds ?? 0 };
}

function addStream(
  muxer: FormatContext,
  encoder: CodecContext,
  { isDefault, tag }: { isDefault?: boolean; tag?: string },
): Stream {
  const stream = muxer.newStream(null);
  check(stream.codecpar.fromContext(encoder), 'set stream parameters');
  if (tag !== undefined) stream.codecpar.codecTag = tag;
  stream.timeBase = encoder.timeBase;
  if (isDefault === true) stream.setDisposition(AV_DISPOSITION_DEFAULT);
  return stream;
}

function addSubtitle(muxer: FormatContext, { codec, cues }: SubtitleRecipe): Track {
  const stream = muxer.newStream(null);
  const from = { num: 1, den: 1_000 };
  stream.timeBase = new Rational(from.num, from.den);
  stream.codecpar.codecType = AVMEDIA_TYPE_SUBTITLE;
  stream.codecpar.codecId = codec === 'subrip' ? AV_CODEC_ID_SUBRIP : AV_CODEC_ID_MOV_TEXT;
  async function* packets(): AsyncGenerator<Packet> {
    for (const [start, length] of cues) {
      const packet = new Packet();
      packet.alloc();
      packet.data = codec === 'subrip' ? Buffer.from('Hello') : Buffer.from('\0\x05Hello');
      packet.pts = BigInt(Math.round(start * 1_000));
      packet.dts = packet.pts;
      packet.duration = BigInt(Math.round(length * 1_000));
      packet.isKeyframe = true;
      yield packet;
    }
  }
  return { stream, packets: packets(), from, delaySeconds: 0 };
}

function addTrack(muxer: FormatContext, recipe: StreamRecipe): Promise<Track> | Track {
  switch (recipe.kind) {
    case 'video':
      return addVideo(muxer, recipe);
    case 'audio':
      return addAudio(muxer, recipe);
    case 'subtitle':
      return addSubtitle(muxer, recipe);
    default:
      return recipe satisfies never;
  }
}

async function mux(path: string, recipe: Recipe, offsetSeconds: number): Promise<void> {
  const muxer = new FormatContext();
  check(muxer.allocOutputContext2(null, recipe.format, path), 'open file');
  muxer.strictStdCompliance = STRICT;
  const tracks: Track[] = [];
  for (const stream of recipe.streams) tracks.push(await addTrack(muxer, stream));
  check(await muxer.openOutput(), 'open file');
  using options = Dictionary.fromObject({ ...recipe.options });
  check(await muxer.writeHeader(options), 'write header');
  const heads = await Promise.all(
    tracks.map(async (track) => ({ track, head: await track.packets.next() })),
  );
  const timeOf = ({ track, head }: (typeof heads)[number]): number =>
    head.done === true
      ? Infinity
      : (Number(head.value.dts) * track.from.num) / track.from.den + track.delaySeconds;
  for (;;) {
    const next = heads.reduce((a, b) => (timeOf(b) < timeOf(a) ? b : a));
    if (next.head.done === true) break;
    const { value: packet } = next.head;
    const { delaySeconds, from, stream } = next.track;
    if (packet.duration === 0n) packet.duration = 1n;
    packet.rescaleTs(from, stream.timeBase);
    const shift = BigInt(Math.round((delaySeconds + offsetSeconds) / stream.timeBase.toDouble()));
    packet.pts += shift;
    packet.dts += shift;
    packet.streamIndex = stream.index;
    check(await muxer.interleavedWriteFrame(packet), 'write packet');
    packet.free();
    next.head = await next.track.packets.next();
  }
  check(await muxer.writeTrailer(), 'finish file');
  await muxer.closeOutput();
  muxer.freeContext();
}

/** An empty ID3 tag of this total size. */
function id3Tag(bytes: number): Buffer {
  const tag = Buffer.alloc(bytes);
  tag.write('ID3\x04', 'latin1');
  const size = bytes - 10;
  tag.set([(size >> 21) & 127, (size >> 14) & 127, (size >> 7) & 127, size & 127], 6);
  return tag;
}

/** Writes a recipe's file. Throws if the packaged FFmpeg can't. */
export async function writeFileOf(recipe: Recipe, path: string): Promise<void> {
  const offset = recipe.offsetSeconds ?? 0;
  await mux(path, recipe, offset);
  const { edit } = recipe;
  if (edit === undefined) return;
  const bytes = await readFile(path);
  switch (edit.type) {
    case 'drop-start':
      return await writeFile(path, bytes.subarray(edit.bytes));
    case 'id3':
      return await writeFile(path, Buffer.concat([id3Tag(edit.bytes), bytes]));
    case 'append': {
      const second = `${path}.second`;
      await mux(second, recipe, offset + edit.offsetSeconds);
      await writeFile(path, Buffer.concat([bytes, await readFile(second)]));
      return await rm(second);
    }
    default:
      return edit satisfies never;
  }
}
