import { type FilterContext, FilterGraph, Frame } from 'node-av/lib';
import { AV_NOPTS_VALUE } from 'node-av/constants';
import { MediaError } from '../media-error.ts';
import { check, received, required } from './engine.ts';

/** Every graph text names its ends so that they can be found after parsing. */
export const GRAPH_INPUT = 'buffer@in';
export const GRAPH_AUDIO_INPUT = 'abuffer@in';
export const GRAPH_OUTPUT = 'buffersink@out';
export const GRAPH_AUDIO_OUTPUT = 'abuffersink@out';

/**
 * A chain of FFmpeg filters with at most one input and exactly one output.
 *
 * Frames that come out belong to the caller, who frees them.
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

  /** Builds the graph that `description` spells out in FFmpeg's filter syntax. */
  static async open(description: string): Promise<FrameGraph> {
    const graph = new FilterGraph();
    graph.alloc();
    // The stages of a task already run side by side; more threads per filter only cost memory.
    graph.nbThreads = 1;
    check(graph.parse2(description), 'parse filters');
    check(await graph.config(), 'configure filters');
    return new FrameGraph(graph);
  }

  /**
   * Feeds one frame, or null for the end, and yields what becomes ready. Each output is made when it
   * is asked for: one input may stand for minutes of output, which would not fit into memory.
   */
  async *push(frame: Frame | null): AsyncGenerator<Frame> {
    const input = required(this.#input, 'the graph input');
    check(await input.buffersrcAddFrame(frame), 'filter frame');
    yield* this.pull();
  }

  /** Yields the frames that are ready; for a graph without input, all it ever makes. */
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

/** Numbers that describe the frames which will be fed into a graph. */
export type InputTiming = {
  readonly timeBase: { readonly num: number; readonly den: number };
};

/** The input filter for pictures like `frame`. */
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

/** With more channels, nothing says where each is heard unless the sound does. */
const MAX_PLAIN_CHANNELS = 8;

/** The input filter for sound like `frame`. @throws MediaError UNSUPPORTED_MEDIA for its channels */
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

/** Seconds at which a frame starts, or null when it carries no time. */
export function frameSeconds(frame: Frame, timeBase: { num: number; den: number }): number | null {
  return frame.pts === AV_NOPTS_VALUE ? null : (Number(frame.pts) * timeBase.num) / timeBase.den;
}
