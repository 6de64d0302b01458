/** Transcribes a recording's speech with FFmpeg's whisper.cpp filter. */
import { stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Filter, Log, type Frame } from 'node-av/lib';
import { AVDISCARD_ALL, AV_LOG_DEBUG } from 'node-av/constants';
import { MediaError } from '../../media-error.ts';
import type { TranscribeResult, TranscribeTask } from '../../tasks.ts';
import { decode, emptyCoverage, trackPackets, type Coverage } from '../source/decoding.ts';
import { required } from '../engine/engine.ts';
import { audioInput, FrameGraph, GRAPH_AUDIO_OUTPUT } from '../engine/frame-graph.ts';
import { openDecoder, openSource } from '../source/source.ts';
import { TaskMeter } from '../task-meter.ts';
import { findVulkanProblem } from '../engine/vulkan.ts';

/** Relative to the child's working directory, which is the output folder. */
const CUES = 'cues.srt';
/** Whisper processes half a minute at a time. */
const PIECE_SECONDS = 30;
const WHISPER_SAMPLE_RATE = 16_000;
/** Log messages of the engine arrive through a queue. */
const LOG_PATIENCE_MS = 2_000;

/** Escapes a value for a filter chain, where these characters end the option or the filter. */
function escaped(value: string): string {
  return value.replace(/[\\':]/g, '\\$&').replace(/[\\'[\],;]/g, '\\$&');
}

function whisperGraph(frame: Frame, stream: { num: number; den: number }, task: TranscribeTask) {
  return [
    audioInput(frame, { timeBase: stream }),
    `aresample=${WHISPER_SAMPLE_RATE}:async=1:first_pts=0`,
    'aformat=sample_fmts=flt:channel_layouts=mono',
    'asetnsamples=n=4000:p=0',
    `whisper=model=${escaped(task.modelPath)}:language=${task.language ?? 'auto'}:` +
      `queue=${PIECE_SECONDS}:use_gpu=0:destination=${CUES}:format=srt`,
    GRAPH_AUDIO_OUTPUT,
  ].join(',');
}

type Detected = Pick<TranscribeResult, 'language' | 'probability'>;

/** The filter reports the detected language only in its log. The first result counts. */
function listenForLanguage(): { readonly detected: Detected } {
  const heard: { detected: Detected } = { detected: { language: null, probability: 0 } };
  Log.setLevel(AV_LOG_DEBUG);
  Log.setCallback(
    (_level, message) => {
      const found = /auto-detected language: ([a-z]{2,3}) \(p = ([\d.]+)\)/.exec(message);
      if (found === null || heard.detected.language !== null) return;
      const [, language = '', probability = '0'] = found;
      heard.detected = { language, probability: Math.min(1, Number(probability)) };
    },
    { maxLevel: AV_LOG_DEBUG },
  );
  return heard;
}

/**
 * Writes a transcript as SubRip, or only detects the language.
 * @throws {MediaError} if the file is at fault, another error if the model can't be loaded
 */
export async function transcribe(
  task: TranscribeTask,
  watch: (meter: TaskMeter) => void,
): Promise<TranscribeResult> {
  required(Filter.getByName('whisper'), 'the filter "whisper"');
  const problem = findVulkanProblem();
  if (problem !== null) throw new MediaError('PROCESSING_FAILED', problem, { retryable: false });
  const meter = new TaskMeter();
  watch(meter);
  const opened = await openSource(task.sourcePath, { onTurn: () => meter.addWork() });
  meter.expect({ seconds: opened.declaredSeconds, bytes: opened.sizeBytes });
  const stream = opened.audio;
  if (stream === null) return { language: null, probability: 0, cues: null };
  const heard = task.language === null ? listenForLanguage() : null;
  const source = { ...opened, video: null };
  if (opened.video !== null) opened.video.stream.discard = AVDISCARD_ALL;
  const decoder = await openDecoder(stream, 1);
  const coverage = emptyCoverage();
  const sound = { source, stream, decoder, maxSeconds: task.maxDurationSeconds, coverage };
  const { timeBase } = stream.stream;
  const untilSeconds = heard === null ? Infinity : PIECE_SECONDS;
  const packets = trackPackets(source.container, stream, meter);
  const hearing = { coverage, meter, untilSeconds, timeBase };
  const hasSound = await hear(task, decode(packets, sound), hearing);
  const deadline = performance.now() + (hasSound ? LOG_PATIENCE_MS : 0);
  while (heard?.detected.language === null && performance.now() < deadline) await sleep(20);
  const written = await stat(CUES).catch(() => null);
  return {
    ...(heard?.detected ?? { language: null, probability: 0 }),
    cues: written === null || written.size === 0 ? null : CUES,
  };
}

type Hearing = {
  coverage: Coverage;
  meter: TaskMeter;
  timeBase: { num: number; den: number };
  untilSeconds: number;
};

/**
 * Passes the audio to the filter.
 * @returns false if there is no audio
 */
async function hear(
  task: TranscribeTask,
  frames: AsyncIterable<Frame>,
  { coverage, meter, timeBase, untilSeconds }: Hearing,
): Promise<boolean> {
  let graph: FrameGraph | null = null;
  let format = '';
  const drop = async (heard: AsyncIterable<Frame>): Promise<void> => {
    for await (const frame of heard) frame.free();
  };
  for await (const frame of frames) {
    meter.reachedTime(coverage.endSeconds);
    const description = audioInput(frame, { timeBase });
    graph ??= await FrameGraph.open(whisperGraph(frame, timeBase, task));
    format ||= description;
    // A recording that changes format midway is transcribed up to that point.
    if (format === description) await drop(graph.push(frame));
    frame.free();
    if (coverage.endSeconds > untilSeconds) break;
  }
  if (graph === null) return false;
  await drop(graph.push(null));
  graph[Symbol.dispose]();
  return true;
}
