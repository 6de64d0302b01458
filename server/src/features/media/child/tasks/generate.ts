import { stat } from 'node:fs/promises';
import {
  Dictionary,
  FormatContext,
  type CodecContext,
  type Frame,
  type Packet,
  type Stream,
} from 'node-av/lib';
import {
  AV_CHANNEL_LAYOUT_5POINT1,
  AV_CHANNEL_LAYOUT_STEREO,
  AV_PKT_DATA_DISPLAYMATRIX,
  AV_PKT_DATA_DOVI_CONF,
} from 'node-av/constants';
import type { GenerateResult, GenerateTask } from '../../tasks.ts';
import { attachPair, rowPairs } from '../picture/closed-captions.ts';
import { appendMetadata, DOLBY_VISION_CONFIGURATION } from '../picture/dolby-vision.ts';
import { check } from '../engine/engine.ts';
import { encode, openAudioEncoder } from '../engine/encoders.ts';
import { FrameGraph } from '../engine/frame-graph.ts';
import { matrixForRotation } from '../picture/orientation.ts';
import { TaskMeter } from '../task-meter.ts';
import { openPictureEncoder, pictureGraph, REPEATS } from './clip-picture.ts';
import { soundGraph } from './clip-sound.ts';

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
