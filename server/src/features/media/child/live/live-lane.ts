/** One rung of a live broadcast. Takes frames and produces segments that begin with key frames. */
import type { CodecContext, Frame, Packet } from 'node-av/lib';
import type { VideoRung } from '../../ladder.ts';
import type { LiveAnswer } from '../../live-rungs.ts';
import { avcRecord, lengthPrefixed } from './annex-b.ts';
import { encode, openLiveEncoder } from '../engine/encoders.ts';
import { FrameGraph } from '../engine/frame-graph.ts';
import { liveRungGraph } from '../picture/picture-filters.ts';

/** A segment begins with the first frame presented at or after this time. */
export type SegmentStart = { readonly number: number; readonly atMs: number };

/** Encoder clocks count whole milliseconds. */
const TOLERANCE_MS = 4;

export class LiveLane {
  readonly #rung: VideoRung;
  readonly #say: (answer: LiveAnswer) => Promise<void>;
  readonly #leastStepMs: number;
  #encoder: CodecContext | null = null;
  #graph: { graph: FrameGraph; shape: string } | null = null;
  /** Segments whose first frame has not been encoded yet. */
  #asked: SegmentStart[] = [];
  readonly #cuts: SegmentStart[] = [];
  #keptMs = -Infinity;
  #segment: { number: number; times: number[]; pictures: Buffer[] } | null = null;

  constructor(rung: VideoRung, say: (answer: LiveAnswer) => Promise<void>) {
    this.#rung = rung;
    this.#say = say;
    this.#leastStepMs = (1_000 * rung.frameRate.den) / rung.frameRate.num - TOLERANCE_MS;
  }

  /** Whether this lane produces segments for the given rung. */
  makes({ name, width, height }: VideoRung): boolean {
    const own = this.#rung;
    return own.name === name && own.width === width && own.height === height;
  }

  /**
   * Encodes a frame, which still belongs to the caller. Frames that exceed the rung's rate are
   * skipped.
   */
  async take(frame: Frame, atMs: number, start: SegmentStart | null): Promise<void> {
    if (start === null && atMs - this.#keptMs < this.#leastStepMs) return;
    this.#keptMs = atMs;
    if (start !== null) this.#asked.push({ number: start.number, atMs });
    const copy = frame.clone();
    if (copy === null) throw new Error('The frame could not be copied.');
    const graph = await this.#graphFor(frame);
    await this.#encodeAll(graph.push(copy));
    copy.free();
  }

  /** Flushes the encoder and closes the last segment. */
  async end(endMs: number): Promise<void> {
    await this.#flushGraph();
    if (this.#encoder !== null) {
      for await (const packet of encode(this.#encoder, null)) await this.#place(packet);
      this.#encoder.freeContext();
      this.#encoder = null;
    }
    await this.#close(endMs);
  }

  /** The graph is rebuilt when the frame format changes. */
  async #graphFor(frame: Frame): Promise<FrameGraph> {
    const { width, height, format, colorSpace, colorRange, colorTrc } = frame;
    const shape = [width, height, format, colorSpace, colorRange, colorTrc].join();
    if (this.#graph?.shape !== shape) {
      await this.#flushGraph();
      this.#graph = { graph: await FrameGraph.open(liveRungGraph(frame, this.#rung)), shape };
    }
    return this.#graph.graph;
  }

  async #flushGraph(): Promise<void> {
    if (this.#graph === null) return;
    await this.#encodeAll(this.#graph.graph.push(null));
    this.#graph.graph[Symbol.dispose]();
    this.#graph = null;
  }

  async #encodeAll(frames: AsyncIterable<Frame>): Promise<void> {
    this.#encoder ??= await openLiveEncoder(this.#rung);
    for await (const frame of frames) {
      const reached = this.#asked.filter(({ atMs }) => atMs <= Number(frame.pts));
      this.#asked = this.#asked.slice(reached.length);
      this.#cuts.push(...reached.slice(-1));
      const isKey = reached.length > 0;
      for await (const packet of encode(this.#encoder, frame, isKey)) await this.#place(packet);
      frame.free();
    }
  }

  /** Adds an encoded picture to its segment and frees the packet. */
  async #place(packet: Packet): Promise<void> {
    const atMs = Number(packet.pts);
    const data = lengthPrefixed(packet.data ?? Buffer.alloc(0));
    packet.free();
    const [cut] = this.#cuts;
    if (cut !== undefined && atMs >= cut.atMs) {
      this.#cuts.shift();
      await this.#close(atMs);
      this.#segment = { number: cut.number, times: [], pictures: [] };
    }
    this.#segment?.times.push(atMs);
    this.#segment?.pictures.push(data);
  }

  async #close(endMs: number): Promise<void> {
    const segment = this.#segment;
    const header = this.#encoder?.extraData ?? this.#header;
    this.#header = header;
    this.#segment = null;
    if (segment === null || header === null || segment.pictures.length === 0) return;
    const { number, pictures, times } = segment;
    await this.#say({
      type: 'segment',
      rung: this.#rung.name,
      number,
      record: avcRecord(header).toString('base64'),
      times: [...times, Math.max(endMs, (times.at(-1) ?? 0) + 1)],
      sizes: pictures.map(({ length }) => length),
      data: Buffer.concat(pictures).toString('base64'),
    });
  }

  #header: Buffer | null = null;
}
