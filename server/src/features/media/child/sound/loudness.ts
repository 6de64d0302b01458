import type { Frame } from 'node-av/lib';
import { decode, emptyCoverage, trackPackets } from '../source/decoding.ts';
import { AUDIO_SAMPLE_RATE } from '../engine/encoders.ts';
import { audioInput, FrameGraph, GRAPH_AUDIO_OUTPUT } from '../engine/frame-graph.ts';
import { openTrack } from '../source/open-track.ts';
import { openDecoder, type Source } from '../source/source.ts';
import { SPEECH_SAMPLE_RATE, SpeechMeter } from './speech-meter.ts';
import type { TaskMeter } from '../task-meter.ts';
import type { Waveform } from './waveform.ts';

/**
 * Loudness normalization (EBU R 128). Clips follow each other in a feed, so each is brought to the
 * same integrated loudness. This takes two passes: the first measures, the second applies a
 * constant gain, which preserves the dynamics. Peaks that would exceed the ceiling are limited.
 */

/** The playback level of large video platforms, in LUFS. */
const TARGET_LUFS = -14;
/** In dBTP. AAC encoding can raise peaks by up to a decibel above this. */
const CEILING_DB = -1;
/** Anything quieter is silence or noise and is not amplified. */
const SILENCE_LUFS = -60;
const MAX_GAIN_DB = 30;
/** True peaks are between samples; oversampling four times approximates them. */
const PEAK_SAMPLE_RATE = 4 * AUDIO_SAMPLE_RATE;

export type Loudness = {
  /** NaN if the audio is shorter than one 400 ms block. */
  readonly integratedLufs: number;
  readonly truePeakDb: number;
};

/** The gain of a source, and whether its peaks must be limited. */
export type LoudnessChange = {
  readonly gainDb: number;
  readonly isLimited: boolean;
};

/** The change that a source needs according to its measurement, or null if it needs none. */
export function loudnessChange(measured: Loudness | null): LoudnessChange | null {
  if (measured === null) return null;
  const { integratedLufs, truePeakDb } = measured;
  if (!Number.isFinite(integratedLufs) || integratedLufs < SILENCE_LUFS) return null;
  const gainDb = Math.min(MAX_GAIN_DB, Math.round((TARGET_LUFS - integratedLufs) * 100) / 100);
  const isLimited = !(truePeakDb + gainDb <= CEILING_DB);
  return gainDb === 0 && !isLimited ? null : { gainDb, isLimited };
}

/** The filters that apply a change to audio at {@link AUDIO_SAMPLE_RATE}. */
export function loudnessFilters(change: LoudnessChange | null): string[] {
  if (change === null) return [];
  const gain = `volume=${change.gainDb}dB:precision=float`;
  if (!change.isLimited) return [gain];
  const ceiling = 10 ** (CEILING_DB / 20);
  return [
    gain,
    `aresample=${PEAK_SAMPLE_RATE}`,
    `alimiter=limit=${ceiling.toFixed(4)}:attack=5:release=50:level=0:latency=1`,
    `aresample=${AUDIO_SAMPLE_RATE}`,
  ];
}

/** The running measurement, from the tags that FFmpeg's `ebur128` filter adds to frames. */
function readTags(frame: Frame): Loudness | null {
  const tags = frame.getMetadata();
  const integrated = tags.get('lavfi.r128.I');
  const peak = tags.get('lavfi.r128.true_peak');
  if (integrated === null) return null;
  return { integratedLufs: Number(integrated), truePeakDb: Number(peak ?? 0) };
}

export type MeasuredSound = {
  readonly loudness: Loudness | null;
  readonly mayBeSpeech: boolean;
};

/** Mixes interleaved stereo down to mono and downsamples it by averaging. */
function toSpeechSamples(frame: Frame): Float32Array {
  const bytes = frame.data?.[0];
  if (bytes === undefined) return new Float32Array(0);
  const values = new Float32Array(new Uint8Array(bytes).buffer, 0, frame.nbSamples * 2);
  const group = (2 * AUDIO_SAMPLE_RATE) / SPEECH_SAMPLE_RATE;
  return Float32Array.from({ length: Math.floor(values.length / group) }, (_, index) => {
    let sum = 0;
    for (let at = index * group; at < (index + 1) * group; at += 1) sum += values[at] ?? 0;
    return sum / group;
  });
}

/**
 * Decodes a source's audio once to measure its loudness, detect speech and feed `waveform`. The
 * loudness is null for a source without audio.
 * @throws {MediaError} if the audio can't be decoded, as in `transcode`
 */
export async function measureSound(
  source: Source,
  maxSeconds: number,
  meter: TaskMeter,
  waveform: Waveform | null,
): Promise<MeasuredSound> {
  if (source.audio === null) return { loudness: null, mayBeSpeech: false };
  await using sound = await openTrack(source, 'audio');
  const { container, stream } = sound;
  // Progress is reported only by the later pass that creates the renditions.
  const packets = trackPackets(container, stream, { reachedByte: () => meter.addWork() });
  const decoder = await openDecoder(stream, 1);
  let graph: FrameGraph | null = null;
  let format = '';
  let loudness: Loudness | null = null;
  const speech = new SpeechMeter();
  const take = async (frames: AsyncIterable<Frame>): Promise<void> => {
    for await (const frame of frames) {
      loudness = readTags(frame) ?? loudness;
      if (!speech.mayBeSpeech) speech.push(toSpeechSamples(frame));
      meter.addWork();
      frame.free();
    }
  };
  const coverage = emptyCoverage();
  for await (const frame of decode(packets, { source, stream, decoder, maxSeconds, coverage })) {
    const description = audioInput(frame, { timeBase: stream.stream.timeBase });
    graph ??= await FrameGraph.open(
      `${description},aresample=${AUDIO_SAMPLE_RATE},aformat=channel_layouts=stereo,` +
        `ebur128=metadata=1:peak=true,aformat=sample_fmts=flt,${GRAPH_AUDIO_OUTPUT}`,
    );
    format ||= description;
    // If a recording changes its format midway, only its first part is measured.
    if (format === description) {
      await waveform?.take(frame, { timeBase: stream.stream.timeBase });
      await take(graph.push(frame));
    }
    frame.free();
  }
  if (graph !== null) await take(graph.push(null));
  graph?.[Symbol.dispose]();
  return { loudness, mayBeSpeech: speech.mayBeSpeech };
}
