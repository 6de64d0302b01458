/** Remuxes a live broadcast from MPEG-TS to FLV without encoding. */
import {
  BitStreamFilter,
  BitStreamFilterContext,
  Dictionary,
  FormatContext,
  InputFormat,
  IOContext,
  Packet,
  type Stream,
} from 'node-av/lib';
import {
  AVDISCARD_ALL,
  AVERROR_EOF,
  AVFMT_FLAG_CUSTOM_IO,
  AVFMT_FLAG_FLUSH_PACKETS,
  AVMEDIA_TYPE_AUDIO,
  AVMEDIA_TYPE_VIDEO,
  AV_CODEC_ID_AAC,
  AV_CODEC_ID_H264,
  AV_CODEC_ID_HEVC,
  AV_NOPTS_VALUE,
  type AVCodecID,
} from 'node-av/constants';
import type { RemuxAnswer, RemuxOrder } from '../../live-remux.ts';
import { MediaError } from '../../media-error.ts';
import { ALL_DECODERS } from '../source/allowed-formats.ts';
import { readOrders, say } from '../conversation.ts';
import { check, received, required } from '../engine/engine.ts';

const IO_BYTES = 64 * 1024;
/** Limits the search for the first key frame. */
const PROBE_BYTES = 20_000_000n;
const PROBE_MICROSECONDS = 5_000_000n;

/**
 * Bitstream filters that convert packets for FLV. The video filter preserves parameter sets that change
 * mid-stream.
 */
const FILTERS: ReadonlyMap<AVCodecID, string> = new Map([
  [AV_CODEC_ID_H264, 'extract_extradata'],
  [AV_CODEC_ID_HEVC, 'extract_extradata'],
  [AV_CODEC_ID_AAC, 'aac_adtstoasc'],
]);

const answer: (message: RemuxAnswer) => Promise<void> = say;

/** Runs until it is told to end. */
export async function remux(): Promise<object> {
  const input = await openInput();
  const lanes = chooseStreams(input).map((stream) => openLane(stream));
  if (lanes.length === 0) {
    throw new MediaError('UNSUPPORTED_MEDIA', 'The encoder sends neither video nor audio.');
  }
  const output = await openOutput(lanes);
  for (;;) {
    const packet = new Packet();
    packet.alloc();
    const code = await input.readFrame(packet);
    if (code === AVERROR_EOF) break;
    check(code, 'read MPEG-TS');
    const lane = lanes.find(({ from }) => from.index === packet.streamIndex);
    if (lane !== undefined) await pass(packet, lane, output);
    packet.free();
  }
  check(await output.writeTrailer(), 'finish FLV');
  await output.flush();
  return {};
}

async function openInput(): Promise<FormatContext> {
  const orders = readOrders<RemuxOrder>();
  await answer({ type: 'ready' });
  const input = new FormatContext();
  input.allocContext();
  const io = new IOContext();
  io.allocContextWithCallbacks(IO_BYTES, 0, reader(orders));
  input.pb = io;
  input.setFlags(AVFMT_FLAG_CUSTOM_IO);
  input.probesize = PROBE_BYTES;
  input.maxAnalyzeDuration = PROBE_MICROSECONDS;
  const format = required(InputFormat.findInputFormat('mpegts'), 'MPEG-TS');
  using options = Dictionary.fromObject({ codec_whitelist: ALL_DECODERS });
  check(await input.openInput('', format, options), 'open MPEG-TS');
  check(await input.findStreamInfo(null), 'probe MPEG-TS');
  return input;
}

/** Feeds arriving bytes to FFmpeg, and signals the end of input. */
function reader(orders: AsyncGenerator<RemuxOrder>) {
  let rest: Buffer = Buffer.alloc(0);
  let taken = 0;
  let isOver = false;
  return async (size: number): Promise<Buffer | null> => {
    // FFmpeg reads again after the end.
    while (rest.length === 0 && !isOver) {
      const next = await orders.next();
      if (next.done === true || next.value.type === 'end') {
        isOver = true;
      } else {
        rest = Buffer.from(next.value.data, 'base64');
        taken += rest.length;
        await answer({ type: 'taken', bytes: taken });
      }
    }
    if (isOver) return null;
    const piece = rest.subarray(0, size);
    rest = rest.subarray(size);
    return piece;
  };
}

/**
 * Selects the first video and the first audio stream.
 *
 * @throws {MediaError} if a codec is not supported
 */
function chooseStreams(input: FormatContext): Stream[] {
  const { streams } = input;
  const chosen = [AVMEDIA_TYPE_VIDEO, AVMEDIA_TYPE_AUDIO].flatMap((type) => {
    return streams.find(({ codecpar }) => codecpar.codecType === type) ?? [];
  });
  for (const stream of streams) {
    if (!chosen.includes(stream)) stream.discard = AVDISCARD_ALL;
  }
  for (const { codecpar } of chosen) {
    if (FILTERS.has(codecpar.codecId)) continue;
    throw new MediaError('UNSUPPORTED_MEDIA', 'SRT supports only H.264, HEVC and AAC.');
  }
  return chosen;
}

type Lane = {
  readonly from: Stream;
  readonly filter: BitStreamFilterContext;
  to: Stream | null;
  lastDts: bigint;
};

function openLane(from: Stream): Lane {
  const name = FILTERS.get(from.codecpar.codecId) ?? 'null';
  const filter = new BitStreamFilterContext();
  check(filter.alloc(required(BitStreamFilter.getByName(name), name)), 'open filter');
  const parameters = required(filter.inputCodecParameters, 'parameters');
  check(from.codecpar.copy(parameters), 'copy parameters');
  filter.inputTimeBase = from.timeBase;
  check(filter.init(), 'begin filter');
  return { from, filter, to: null, lastDts: AV_NOPTS_VALUE };
}

async function openOutput(lanes: readonly Lane[]): Promise<FormatContext> {
  const output = new FormatContext();
  check(output.allocOutputContext2(null, 'flv', null), 'open FLV');
  for (const lane of lanes) {
    const to = output.newStream(null);
    const parameters = required(lane.filter.outputCodecParameters, 'parameters');
    check(parameters.copy(to.codecpar), 'copy parameters');
    to.codecpar.codecTag = 0;
    to.timeBase = lane.from.timeBase;
    lane.to = to;
  }
  const io = new IOContext();
  io.allocContextWithCallbacks(IO_BYTES, 1, null, async (bytes) => {
    await answer({ type: 'flv', data: bytes.toString('base64') });
    return bytes.length;
  });
  output.pb = io;
  output.setFlags(AVFMT_FLAG_CUSTOM_IO, AVFMT_FLAG_FLUSH_PACKETS);
  using options = Dictionary.fromObject({ flvflags: 'no_duration_filesize' });
  check(await output.writeHeader(options), 'begin FLV');
  return output;
}

async function pass(packet: Packet, lane: Lane, output: FormatContext): Promise<void> {
  check(await lane.filter.sendPacket(packet), 'filter');
  for (;;) {
    const filtered = new Packet();
    filtered.alloc();
    if (!received(await lane.filter.receivePacket(filtered), 'filter')) return filtered.free();
    await write(filtered, lane, output);
    filtered.free();
  }
}

async function write(packet: Packet, lane: Lane, output: FormatContext): Promise<void> {
  const { dts } = packet;
  const to = required(lane.to, 'a track');
  // The first packets of a stream joined midway may lack a timestamp, and damaged ones repeat it.
  if (dts === AV_NOPTS_VALUE || packet.pts === AV_NOPTS_VALUE) return;
  packet.rescaleTs(lane.from.timeBase, to.timeBase);
  if (packet.dts === lane.lastDts) return;
  lane.lastDts = packet.dts;
  packet.streamIndex = to.index;
  // Not interleaved, so that a track that pauses does not hold back the other.
  check(await output.writeFrame(packet), 'write FLV');
}
