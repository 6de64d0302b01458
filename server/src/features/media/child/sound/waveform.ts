import type { Frame } from 'node-av/lib';
import sharp from 'sharp';
import { WAVEFORM_SIZE } from '../../thumbnail-sizes.ts';
import { audioInput, FrameGraph, GRAPH_OUTPUT, type InputTiming } from '../engine/frame-graph.ts';
import { stillFromFrame, type Still } from '../picture/still.ts';

const WAVE = { width: 640, height: 320 } as const;
const BACKGROUND = '#14181f';
const COLOR = '0x7cc4ff';
/** The filter keeps all samples until the end: one hour at this rate takes 60 MB. */
const SAMPLE_RATE = 8_000;

/** Draws the waveform that stands in for the picture of an audio-only item. */
export class Waveform {
  #graph: FrameGraph | null = null;

  /**
   * Processes a frame, which still belongs to the caller. All frames must have the format of the
   * first one.
   */
  async take(frame: Frame, timing: InputTiming): Promise<void> {
    this.#graph ??= await FrameGraph.open(
      `${audioInput(frame, timing)},aresample=${SAMPLE_RATE},` +
        'aformat=sample_fmts=s16:channel_layouts=mono,' +
        `showwavespic=s=${WAVE.width}x${WAVE.height}:colors=${COLOR}:draw=full:scale=sqrt,` +
        `format=rgba,${GRAPH_OUTPUT}`,
    );
    const input = frame.clone();
    for await (const output of this.#graph.push(input)) output.free();
    input?.free();
  }

  /** The picture, or null if there was no frame. */
  async finish(): Promise<Still | null> {
    if (this.#graph === null) return null;
    let wave: Still | null = null;
    for await (const output of this.#graph.push(null)) {
      wave ??= stillFromFrame(output, 4);
      output.free();
    }
    this.#graph[Symbol.dispose]();
    const raw = { ...WAVE, channels: 4 } as const;
    const overlays = wave === null ? [] : [{ input: wave.data, raw }];
    const { width, height } = WAVEFORM_SIZE;
    const data = await sharp({ create: { width, height, channels: 3, background: BACKGROUND } })
      .composite(overlays)
      .removeAlpha()
      .raw()
      .toBuffer();
    return { data, width, height };
  }
}
