import type { CodecContext, Frame } from 'node-av/lib';
import { AUDIO_RUNG, type Rung } from '../../ladder.ts';
import type { PlaylistVariant } from '../../master-playlist.ts';
import type { Rendition } from '../../tasks.ts';
import type { TrackName } from '../../track-names.ts';
import { runAudio } from './audio-stage.ts';
import { emptyCoverage, trackPackets, type Coverage } from '../source/decoding.ts';
import { openAudioEncoder, openVideoEncoder } from '../engine/encoders.ts';
import { required } from '../engine/engine.ts';
import { HlsOutput } from './hls-output.ts';
import type { LoudnessChange } from '../sound/loudness.ts';
import type { Orientation } from '../picture/orientation.ts';
import { runParts } from './parallel-video.ts';
import { AudioPace } from './pace.ts';
import type { VideoPart } from './parts.ts';
import { openTrack, readOnly } from '../source/open-track.ts';
import type { Source } from '../source/source.ts';
import type { TaskMeter } from '../task-meter.ts';
import { runVideo, type VideoLane } from './video-stage.ts';

export type TranscodeOptions = {
  readonly source: Source;
  readonly rungs: readonly Rung[];
  readonly outputDir: string;
  readonly segmentSeconds: number;
  /** See `planSegments`. */
  readonly hasShortStart: boolean;
  readonly orientation: Orientation;
  /** Maximum threads per decoder and encoder. */
  readonly threads: number;
  /** A frame later than this fails the task. */
  readonly maxSeconds: number;
  readonly meter: TaskMeter;
  /** See `AudioStage.loudness`. */
  readonly loudness: LoudnessChange | null;
  /** Also writes the first rung as a single MP4. */
  readonly hasDownload: boolean;
  /** Stores the audio in a separate rendition with this name. */
  readonly soundApart: TrackName | null;
  /** Writes playlists that can be followed while they grow, and announces the renditions. */
  readonly announce?: (variants: readonly PlaylistVariant[]) => Promise<void>;
  /** End of an audio track that is encoded elsewhere, in seconds. */
  readonly soundEndSeconds?: number;
  /** Parts in which to encode the video of the only rung, or null for a single run. */
  readonly parts: readonly VideoPart[] | null;
  /**
   * Another reader of the decoded pictures besides the rungs; it frees them. With parts, it reads
   * only the first.
   */
  readonly watchFrames?: (frames: AsyncIterable<Frame>) => Promise<void>;
};

/** Resolves when everything is encoded. The caller checks the coverage before calling `finish`. */
export type TranscodeResult = {
  readonly video: Coverage;
  readonly audio: Coverage;
  /** Closes the last segments and the playlists. */
  readonly finish: () => Promise<Rendition[]>;
};

/**
 * Decodes a source once and encodes all given rungs in parallel.
 *
 * Stages run concurrently, connected by bounded queues: a demuxer and a decoder each for audio and
 * video, and filters and an encoder per rung. Each native call runs on its own thread, so all cores
 * are used.
 */
export async function transcode(options: TranscodeOptions): Promise<TranscodeResult> {
  const { parts, source, rungs } = options;
  const video = emptyCoverage();
  const audio = emptyCoverage();
  const audioEncoder = source.audio === null ? null : await openAudioEncoder();
  const { lanes, outputs } = await openOutputs(rungs, audioEncoder, options);
  await options.announce?.(announced(outputs, options));
  const pace =
    parts === null ? new AudioPace() : AudioPace.known(source.video?.declaredSeconds ?? 0);
  const audioEnd =
    audioEncoder === null
      ? Promise.resolve(options.soundEndSeconds ?? 0)
      : runSound(audioEncoder, outputs, source.video === null ? null : pace, audio, options);
  const stage = { ...options, coverage: video, audioEnd, pace };
  await Promise.all([audioEnd, runPictures(lanes, stage)]);
  return { video, audio, finish: () => finishAll(outputs, options) };
}

/** The planned renditions with their maximum bit rates. */
function announced(
  outputs: readonly HlsOutput[],
  { rungs, soundApart }: TranscodeOptions,
): PlaylistVariant[] {
  return outputs.map((output, index) => ({
    ...output.announcement(),
    ...(soundApart !== null && index >= rungs.length && { sound: soundApart }),
  }));
}

async function finishAll(
  outputs: readonly HlsOutput[],
  { rungs, soundApart }: TranscodeOptions,
): Promise<Rendition[]> {
  const made = await Promise.all(outputs.map((output) => output.finish()));
  if (soundApart === null) return made;
  return made.map((rendition, index) =>
    index < rungs.length ? rendition : { ...rendition, sound: soundApart },
  );
}

/** Opens the source again for its audio. Returns the end of the audio in seconds. */
async function runSound(
  encoder: CodecContext,
  outputs: readonly HlsOutput[],
  pace: AudioPace | null,
  coverage: Coverage,
  options: TranscodeOptions,
): Promise<number> {
  const { meter, source } = options;
  await using sound = await openTrack(source, 'audio');
  const packets = trackPackets(sound.container, sound.stream, {
    // If there is video, only the video drives the progress.
    reachedByte: (position) => {
      if (source.video === null) meter.reachedByte(position);
      else meter.addWork();
    },
  });
  const { stream } = sound;
  return await runAudio({ ...options, stream, packets, encoder, outputs, coverage, pace });
}

async function runPictures(
  lanes: readonly VideoLane[],
  stage: TranscodeOptions & { coverage: Coverage; audioEnd: Promise<number>; pace: AudioPace },
): Promise<void> {
  const { meter, parts, source } = stage;
  if (source.video === null) return;
  if (parts === null) {
    readOnly(source, [source.video.stream.index]);
    const packets = trackPackets(source.container, source.video, meter);
    return await runVideo({ ...stage, stream: source.video, packets, lanes });
  }
  const { encoder, ...lane } = required(lanes[0], 'a video rung');
  await runParts({ ...stage, ...lane, parts, announced: encoder });
}

async function openOutputs(
  rungs: readonly Rung[],
  audioEncoder: CodecContext | null,
  options: TranscodeOptions,
): Promise<{ lanes: VideoLane[]; outputs: HlsOutput[] }> {
  const { outputDir, segmentSeconds, threads } = options;
  const grows = options.announce !== undefined;
  const lanes: VideoLane[] = [];
  const outputs: HlsOutput[] = [];
  for (const [index, rung] of rungs.entries()) {
    const encoder = rung.kind === 'video' ? await openVideoEncoder(rung, threads) : null;
    const encoders = { video: encoder, audio: audioEncoder };
    const output = await HlsOutput.open(outputDir, rung, encoders, {
      segmentSeconds,
      hasShortStart: options.hasShortStart,
      grows,
      hasDownload: options.hasDownload && index === 0,
      keepsSoundApart: options.soundApart !== null,
    });
    outputs.push(output);
    if (rung.kind === 'video' && encoder !== null) lanes.push({ rung, encoder, output });
  }
  if (options.soundApart !== null && audioEncoder !== null) {
    const encoders = { video: null, audio: audioEncoder };
    const output = await HlsOutput.open(outputDir, AUDIO_RUNG, encoders, {
      segmentSeconds,
      hasShortStart: false,
      grows,
      hasDownload: false,
      keepsSoundApart: false,
    });
    outputs.push(output);
  }
  return { lanes, outputs };
}
