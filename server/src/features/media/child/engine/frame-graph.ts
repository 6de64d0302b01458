import { type FilterContext, FilterGraph, Frame } from 'node-av/lib';
import { AV_NOPTS_VALUE } from 'node-av/constants';
import { MediaError } from '../../media-error.ts';
import { check, received, required } from './engine.ts';

/** Names of the inputs and outputs in graph descriptions, used to look them up after parsing. */
export const GRAPH_INPUT = 'buffer@in';
export const GRAPH_AUDIO_INPUT = 'abuffer@in';
export const GRAPH_OUTPUT = 'buffersink@out';
export const GRAPH_AUDIO_OUTPUT = 'abuffersink@out';

/**
 * A chain of FFmpeg filters with at most one input and exactly one output. The caller owns output
 * frames and must free them.
 */
export class FrameGraph implements Disposable {
  readonly #graph: FilterGraph;
  readonly #input: FilterContext | null;
  readonly #output: FilterContext;

  private constructor(graph: FilterGraph) {
    this.#graph = graph;
    this.#input = graph.getFilter(GRAPH_INPUT) ?? graph.getFilter(GRAPH_AUDIO_INPUT);
    this.#output = required(
      graph.getFilter(GRAPH_OUTPUT) ?? graph.getFilter(GRAPH_AUDIO_OUTPUT),
      'the graph output',
    );
  }

  /** Builds the graph described in FFmpeg's filter syntax. */
  static async open(description: string): Promise<FrameGraph> {
    const graph = new FilterGraph();
    graph.alloc();
    // The stages of a task already run in parallel, so more threads per filter would only cost
    // memory.
    graph.nbThreads = 1;
    check(graph.parse2(description), 'parse filters');
    check(await graph.config(), 'configure filters');
    return new FrameGraph(graph);
  }

  /**
   * Feeds one frame (null flushes) and yields the frames that become ready. Outputs are created on
   * demand, because one input may expand to minutes of output that would not fit in memory.
   */
  async *push(frame: Frame | null): AsyncGenerator<Frame> {
    const input = required(this.#input, 'the graph input');
    check(await input.buffersrcAddFrame(frame), 'filter frame');
    yield* this.pull();
  }

  /** Yields the frames that are ready; a graph without input yields everything it generates. */
  async *pull(): AsyncGenerator<Frame> {
    for (;;) {
      const frame = new Frame();
      frame.alloc();
      if (!received(await this.#output.buffersinkGetFrame(frame), 'take filtered frame')) {
        frame.free();
        return;
      }
      yield frame;
    }
  }

  [Symbol.dispose](): void {
    this.#graph.free();
  }
}

/** Timing of the frames that will be fed into a graph. */
export type InputTiming = {
  readonly timeBase: { readonly num: number; readonly den: number };
};

/** The input filter for pictures with the properties of `frame`. */
export function videoInput(frame: Frame, timing: InputTiming): string {
  const { num, den } = timing.timeBase;
  const sar = frame.sampleAspectRatio;
  const options = [
    `video_size=${frame.width}x${frame.height}`,
    `pix_fmt=${frame.format}`,
    `time_base=${num}/${den}`,
    `pixel_aspect=${sar.num > 0 && sar.den > 0 ? `${sar.num}/${sar.den}` : '1/1'}`,
    `colorspace=${frame.colorSpace}`,
    `range=${frame.colorRange}`,
  ];
  return `${GRAPH_INPUT}=${options.join(':')}`;
}

/** Above this, the channel order is ambiguous unless the audio declares its layout. */
const MAX_PLAIN_CHANNELS = 8;

/**
 * The input filter for audio with the properties of `frame`.
 * @throws {MediaError} UNSUPPORTED_MEDIA if the channel layout is unknown
 */
export function audioInput(frame: Frame, timing: InputTiming): string {
  const { num, den } = timing.timeBase;
  const { mask, nbChannels } = frame.channelLayout;
  if (mask === 0n && nbChannels > MAX_PLAIN_CHANNELS) {
    const message = `The sound has ${nbChannels} channels without a layout.`;
    throw new MediaError('UNSUPPORTED_MEDIA', message);
  }
  const layout = mask === 0n ? `${nbChannels}c` : `0x${mask.toString(16)}`;
  const options = [
    `sample_rate=${frame.sampleRate}`,
    `sample_fmt=${frame.format}`,
    `time_base=${num}/${den}`,
    `channel_layout=${layout}`,
  ];
  return `${GRAPH_AUDIO_INPUT}=${options.join(':')}`;
}

/** Start of a frame in seconds, or null if it has no timestamp. */
export function frameSeconds(frame: Frame, timeBase: { num: number; den: number }): number | null {
  return frame.pts === AV_NOPTS_VALUE ? null : (Number(frame.pts) * timeBase.num) / timeBase.den;
}
