import { writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Frame } from 'node-av/lib';
import { planLadder } from '../ladder.ts';
import { masterPlaylist } from '../master-playlist.ts';
import { MediaError } from '../media-error.ts';
import type { MediaInfo, PrepareResult, PrepareTask } from '../tasks.ts';
import type { Coverage } from './decoding.ts';
import { describeSource, readOrientation } from './describe.ts';
import { loudnessChange, measureSound } from './loudness.ts';
import { orientationFromMatrix, type Orientation } from './orientation.ts';
import { planParts } from './parts.ts';
import { DAMAGED, openSource, type Source, type SourceStream } from './source.ts';
import { TaskMeter } from './task-meter.ts';
import { writeStills } from './still.ts';
import { writeThumbnails } from './thumbnail.ts';
import { transcode, type TranscodeResult } from './transcode.ts';
import { Waveform } from './waveform.ts';

export const MASTER_PLAYLIST = 'master.m3u8';

/** Clips up to a minute get short segments, so that the first one arrives sooner. */
const SHORT_CLIP_SECONDS = 60;
/** Part of the declared length that has to be readable, and the slack for very short clips. */
const MIN_READABLE = 0.95;
const READABLE_SLACK_SECONDS = 0.5;
/** Share of packets that may fail to decode before the file counts as damaged. */
const MAX_FAILED_PACKETS = 0.05;
/** Containers round lengths; a clip this little over the limit is within it. */
const LIMIT_SLACK_SECONDS = 0.5;

export function segmentSeconds(durationSeconds: number): number {
  return durationSeconds > SHORT_CLIP_SECONDS ? 4 : 2;
}

/** The orientation of the picture; upright for a source without one. */
export function sourceOrientation(source: Source): Orientation {
  return source.video === null ? orientationFromMatrix(null) : readOrientation(source.video);
}

function corrupt(detail: string): MediaError {
  return new MediaError('CORRUPT_MEDIA', DAMAGED, { detail });
}

function checkStream(name: string, stream: SourceStream | null, coverage: Coverage): void {
  if (stream === null) return;
  const { packets, failures, frames, endSeconds } = coverage;
  if (frames === 0) throw corrupt(`no ${name} frame could be decoded (${packets} packets)`);
  if (failures > packets * MAX_FAILED_PACKETS) {
    throw corrupt(`${failures} of ${packets} ${name} packets could not be decoded`);
  }
  const declared = stream.declaredSeconds;
  if (declared !== null && isShort(endSeconds, declared)) {
    throw corrupt(`${name} ends at ${endSeconds.toFixed(3)} of ${declared.toFixed(3)} seconds`);
  }
}

function isShort(endSeconds: number, declaredSeconds: number): boolean {
  return endSeconds < declaredSeconds * MIN_READABLE - READABLE_SLACK_SECONDS;
}

/** Refuses a source of which too little could be read. */
function checkCoverage(source: Source, { video, audio }: TranscodeResult): void {
  checkStream('video', source.video, video);
  // Screen recorders write a sound track without a single packet; that is a silent video.
  if (source.video === null || audio.packets > 0) checkStream('audio', source.audio, audio);
  const endSeconds = Math.max(video.endSeconds, audio.endSeconds);
  if (source.declaredSeconds !== null && isShort(endSeconds, source.declaredSeconds)) {
    throw corrupt(`media ends at ${endSeconds} of ${source.declaredSeconds} seconds`);
  }
}

/**
 * Probes a source, writes its thumbnail and its first rung, and a master playlist that lists it.
 *
 * Throws {@link MediaError}: TOO_LONG, UNSUPPORTED_MEDIA or CORRUPT_MEDIA for what the bytes are.
 */
export async function prepare(
  task: PrepareTask,
  watch: (meter: TaskMeter) => void,
): Promise<PrepareResult> {
  const source = await openSource(task.sourcePath);
  const maxSeconds = task.maxDurationSeconds + LIMIT_SLACK_SECONDS;
  if ((source.declaredSeconds ?? 0) > maxSeconds) {
    throw new MediaError(
      'TOO_LONG',
      `The recording is longer than ${task.maxDurationSeconds} seconds.`,
      { detail: `declared length ${source.declaredSeconds} seconds` },
    );
  }
  const declared = describeSource(source);
  const ladder = planLadder(declared, task.quality);
  const meter = new TaskMeter({ seconds: source.declaredSeconds, bytes: source.sizeBytes });
  watch(meter);
  const waveform = source.video === null ? new Waveform() : null;
  const sound = await measureSound(task.sourcePath, maxSeconds, meter, waveform);
  const loudness = loudnessChange(sound.loudness);
  const thumbnails = thumbnailWatcher(source, declared, task.outputDir);
  const cut = {
    segmentSeconds: segmentSeconds(declared.durationSeconds),
    threads: task.threads ?? availableParallelism(),
  };
  const result = await transcode({
    ...cut,
    source,
    sourcePath: task.sourcePath,
    rungs: [ladder.first],
    parts: await planParts(task.sourcePath, source, ladder.first, cut),
    outputDir: task.outputDir,
    orientation: sourceOrientation(source),
    maxSeconds,
    meter,
    loudness,
    hasDownload: true,
    watchFrames: (frames) => thumbnails.watch(frames),
  });
  checkCoverage(source, result);
  const rungs = await result.finish();
  const endSeconds = Math.max(result.video.endSeconds, result.audio.endSeconds);
  const info = {
    ...declared,
    hasAudio: result.audio.frames > 0,
    durationSeconds: Math.round(endSeconds * 1000) / 1000,
  };
  await writeFile(join(task.outputDir, MASTER_PLAYLIST), masterPlaylist(rungs));
  return {
    info,
    thumbnailHash: waveform === null ? thumbnails.hash() : await drawn(waveform, task.outputDir),
    rungs,
    master: MASTER_PLAYLIST,
    remainingRungs: [...ladder.remaining],
    loudness,
    mayBeSpeech: sound.mayBeSpeech,
  };
}

/** Writes the waveform as thumbnails. Returns the ThumbHash. */
async function drawn(waveform: Waveform, outputDir: string): Promise<string | null> {
  const still = await waveform.finish();
  return still === null ? null : writeStills(still, outputDir);
}

function thumbnailWatcher(source: Source, { width, height }: MediaInfo, folder: string) {
  let hash: string | null = null;
  return {
    hash: () => hash,
    async watch(frames: AsyncIterable<Frame>): Promise<void> {
      const { video } = source;
      if (video === null || width === null || height === null) return;
      const orientation = readOrientation(video);
      const timeBase = video.stream.timeBase;
      hash = await writeThumbnails(frames, { folder, width, height, timeBase, orientation });
    },
  };
}
