/**
 * Produces the rungs of a live broadcast: each picture is decoded once and encoded for every rung.
 * The decoder is kept across segments, because pictures may reference those of the previous
 * segment.
 */
import { Codec, CodecContext, Dictionary, Frame, Packet, Rational } from 'node-av/lib';
import {
  AV_NOPTS_VALUE,
  FF_DECODER_H264,
  FF_DECODER_HEVC,
  FF_DECODER_LIBDAV1D,
} from 'node-av/constants';
import type { LiveAnswer, LiveCodec, LiveOrder } from '../../live-rungs.ts';
import { readOrders, say } from '../conversation.ts';
import { check, received, required } from '../engine/engine.ts';
import { LiveLane, type SegmentStart } from '../live/live-lane.ts';

const decoderNames = {
  avc1: FF_DECODER_H264,
  hvc1: FF_DECODER_HEVC,
  av01: FF_DECODER_LIBDAV1D,
} as const satisfies Record<LiveCodec, string>;
/** A larger picture is a decompression bomb, not a broadcast. */
const MAX_PIXELS = 4096 * 4096;

/** Runs until it is told to end. */
export async function transcodeLive(): Promise<object> {
  const orders = readOrders<LiveOrder>();
  await answer({ type: 'ready' });
  const transcoder = new LiveTranscoder();
  for await (const order of orders) {
    if (order.type === 'end') {
      await transcoder.end(order.endMs);
      return {};
    }
    if (order.type === 'format') await transcoder.setFormat(order);
    else await transcoder.take(order);
  }
  return {};
}

const answer: (message: LiveAnswer) => Promise<void> = say;

type Format = Extract<LiveOrder, { type: 'format' }>;
type Picture = Extract<LiveOrder, { type: 'picture' }>;

class LiveTranscoder {
  #decoder: CodecContext | null = null;
  #lanes: LiveLane[] = [];
  /** Segments whose first picture has not left the decoder yet. */
  readonly #starts: SegmentStart[] = [];
  #number = -1;
  #lastMs = -1;
  #taken = 0;

  async setFormat({ codec, record, rungs }: Format): Promise<void> {
    await this.#drain();
    this.#decoder = await openLiveDecoder(codec, Buffer.from(record, 'base64'));
    const lanes: LiveLane[] = [];
    for (const rung of rungs) {
      const known = this.#lanes.find((lane) => lane.makes(rung));
      lanes.push(known ?? new LiveLane(rung, answer));
    }
    const left = this.#lanes.filter((lane) => !lanes.includes(lane));
    for (const lane of left) await lane.end(this.#lastMs + 1);
    this.#lanes = lanes;
  }

  async take({ number, isKey, shownMs, data }: Picture): Promise<void> {
    if (number > this.#number) this.#starts.push({ number, atMs: shownMs });
    this.#number = Math.max(this.#number, number);
    const packet = toPacket(Buffer.from(data, 'base64'), shownMs, isKey);
    // A picture that can't be decoded leaves a gap in the rungs; the broadcast continues.
    await this.#decoder?.sendPacket(packet);
    packet.free();
    await this.#encodeDecoded();
    this.#taken += 1;
    await answer({ type: 'taken', count: this.#taken });
  }

  async end(endMs: number): Promise<void> {
    await this.#drain();
    for (const lane of this.#lanes) await lane.end(endMs);
  }

  async #drain(): Promise<void> {
    if (this.#decoder === null) return;
    await this.#decoder.sendPacket(null);
    await this.#encodeDecoded();
    this.#decoder.freeContext();
    this.#decoder = null;
  }

  async #encodeDecoded(): Promise<void> {
    for (;;) {
      const frame = new Frame();
      frame.alloc();
      const code = (await this.#decoder?.receiveFrame(frame)) ?? 0;
      // A damaged picture is skipped as if it had never been sent.
      if (code < 0) {
        frame.free();
        if (isMore(code)) continue;
        return;
      }
      await this.#share(frame);
      frame.free();
    }
  }

  async #share(frame: Frame): Promise<void> {
    const time = frame.pts === AV_NOPTS_VALUE ? frame.bestEffortTimestamp : frame.pts;
    const atMs = Number(time);
    if (time === AV_NOPTS_VALUE || atMs <= this.#lastMs) return;
    this.#lastMs = atMs;
    const begun = this.#starts.filter((start) => start.atMs <= atMs);
    this.#starts.splice(0, begun.length);
    const start = begun.at(-1) ?? null;
    frame.pts = time;
    await Promise.all(this.#lanes.map((lane) => lane.take(frame, atMs, start)));
  }
}

/** Whether more frames can be received now. False at the end or if more input is needed. */
function isMore(code: number): boolean {
  try {
    return received(code, 'decode');
  } catch {
    return true;
  }
}

function toPacket(data: Buffer, shownMs: number, isKey: boolean): Packet {
  const packet = new Packet();
  packet.alloc();
  packet.data = data;
  packet.pts = BigInt(shownMs);
  packet.isKeyframe = isKey;
  return packet;
}

async function openLiveDecoder(codecName: LiveCodec, record: Buffer): Promise<CodecContext> {
  const name = decoderNames[codecName];
  const codec = required(Codec.findDecoderByName(name), name);
  const context = new CodecContext();
  context.allocContext3(codec);
  context.extraData = record;
  context.pktTimebase = new Rational(1, 1_000);
  // More threads would add delay.
  context.threadCount = 1;
  using options = Dictionary.fromObject({ max_pixels: MAX_PIXELS });
  check(await context.open2(codec, options), 'open decoder');
  return context;
}
