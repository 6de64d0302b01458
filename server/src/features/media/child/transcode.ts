import { AVDISCARD_ALL } from 'node-av/constants';
import type { CodecContext, Frame, Packet } from 'node-av/lib';
import type { Rung } from '../ladder.ts';
import type { Rendition } from '../tasks.ts';
import { runAudio } from './audio-stage.ts';
import { demux, emptyCoverage, packetQueues, type Coverage } from './decoding.ts';
import { openAudioEncoder, openVideoEncoder } from './encoders.ts';
import { required } from './engine.ts';
import { HlsOutput } from './hls-output.ts';
import type { LoudnessChange } from './loudness.ts';
import type { Orientation } from './orientation.ts';
import { runParts } from './parallel-video.ts';
import type { Part } from './parts.ts';
import type { Source } from './source.ts';
import type { TaskMeter } from './task-meter.ts';
import { runVideo, type VideoLane } from './video-stage.ts';

export type TranscodeOptions = {
  readonly sourcePath: string;
  readonly source: Source;
  readonly rungs: readonly Rung[];
  readonly outputDir: string;
  readonly segmentSeconds: number;
  readonly orientation: Orientation;
  /** Most threads of each decoder and encoder. */
  readonly threads: number;
  /** Frames later than this end the task. */
  readonly maxSeconds: number;
  readonly meter: TaskMeter;
  /** See `AudioStage.loudness`. */
  readonly loudness: LoudnessChange | null;
  /** Writes the first rung as one MP4 as well. */
  readonly hasDownload: boolean;
  /** Encodes the picture of the only rung in these parts; null makes one run of it. */
  readonly parts: readonly Part[] | null;
  /**
   * One more reader of the decoded pictures, beside the rungs; it frees what it takes. Of parts it
   * reads the first.
   */
  readonly watchFrames?: (frames: AsyncIterable<Frame>) => Promise<void>;
};

/** Everything is encoded; the caller looks at what was decoded before it calls `finish`. */
export type TranscodeResult = {
  readonly video: Coverage;
  readonly audio: Coverage;
  /** Ends the last segments and the playlists. */
  readonly finish: () => Promise<Rendition[]>;
};

/**
 * Decodes a source once and encodes all given rungs side by side.
 *
 * Stages run at the same time, joined by bounded queues: demuxer, two decoders, and for each rung
 * filters and encoder. Each native call runs on a thread of its own, so all cores have work.
 */
export async function transcode(options: TranscodeOptions): Promise<TranscodeResult> {
  const { source, meter, rungs } = options;
  const queues = packetQueues();
  const video = emptyCoverage();
  const audio = emptyCoverage();
  const audioEncoder = source.audio === null ? null : await openAudioEncoder();
  const { lanes, outputs } = await openOutputs(rungs, audioEncoder, options);
  // Each worker on the parts reads the pictures itself.
  if (options.parts !== null && source.video !== null) source.video.stream.discard = AVDISCARD_ALL;
  const demuxing = demux(source, queues, meter);
  const audioEnd =
    source.audio === null || audioEncoder === null
      ? Promise.resolve(0)
      : runAudio({
          ...options,
          stream: source.audio,
          packets: queues.audio,
          encoder: audioEncoder,
          outputs,
          coverage: audio,
        });
  const stage = { ...options, coverage: video, audioEnd };
  await Promise.all([demuxing, audioEnd, runPictures(lanes, queues.video, stage)]);
  return { video, audio, finish: () => Promise.all(outputs.map((output) => output.finish())) };
}

async function runPictures(
  lanes: readonly VideoLane[],
  packets: AsyncIterable<Packet>,
  stage: TranscodeOptions & { coverage: Coverage; audioEnd: Promise<number> },
): Promise<void> {
  const { parts, source } = stage;
  if (source.video === null) return;
  if (parts === null) return await runVideo({ ...stage, stream: source.video, packets, lanes });
  const { encoder, ...lane } = required(lanes[0], 'a video rung');
  await runParts({ ...stage, ...lane, parts, announced: encoder });
}

async function openOutputs(
  rungs: readonly Rung[],
  audioEncoder: CodecContext | null,
  options: TranscodeOptions,
): Promise<{ lanes: VideoLane[]; outputs: HlsOutput[] }> {
  const { outputDir, segmentSeconds, threads } = options;
  const lanes: VideoLane[] = [];
  const outputs: HlsOutput[] = [];
  for (const [index, rung] of rungs.entries()) {
    const encoder = rung.kind === 'video' ? await openVideoEncoder(rung, threads) : null;
    const encoders = { video: encoder, audio: audioEncoder };
    const output = await HlsOutput.open(outputDir, rung, encoders, {
      segmentSeconds,
      hasDownload: options.hasDownload && index === 0,
      maySoundRunAhead: options.parts !== null,
    });
    outputs.push(output);
    if (rung.kind === 'video' && encoder !== null) lanes.push({ rung, encoder, output });
  }
  return { lanes, outputs };
}
