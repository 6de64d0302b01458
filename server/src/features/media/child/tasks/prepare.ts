import { writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Frame } from 'node-av/lib';
import { isAv1, planLadder, type Ladder, type Rung } from '../../ladder.ts';
import { masterPlaylist } from '../../master-playlist.ts';
import { MediaError } from '../../media-error.ts';
import { withoutNeedless } from '../../per-title.ts';
import type {
  MediaInfo,
  PrepareResult,
  PrepareTask,
  Rendition,
  SourceTrack,
  SourceWarning,
} from '../../tasks.ts';
import type { TrackName } from '../../track-names.ts';
import type { Coverage } from '../source/decoding.ts';
import { describeSource, readOrientation } from '../source/describe.ts';
import { AUDIO_BITRATE_BPS } from '../engine/encoders.ts';
import { nameOfStream } from '../source/kept-tracks.ts';
import { loudnessChange, measureSound } from '../sound/loudness.ts';
import { orientationFromMatrix, type Orientation } from '../picture/orientation.ts';
import { planParts } from '../rendition/parts.ts';
import { DAMAGED, isShort, openSource, type Source, type SourceStream } from '../source/source.ts';
import { TaskMeter } from '../task-meter.ts';
import { writeStills } from '../picture/still.ts';
import { writeThumbnails } from '../picture/thumbnail.ts';
import { transcode, type TranscodeResult } from '../rendition/transcode.ts';
import { verifyAll } from '../rendition/verify.ts';
import { Waveform } from '../sound/waveform.ts';

export const MASTER_PLAYLIST = 'master.m3u8';

/** Clips up to a minute get short segments, so that the first one loads sooner. */
const SHORT_CLIP_SECONDS = 60;
/** Fraction of packets that may fail to decode before the file counts as damaged. */
const MAX_FAILED_PACKETS = 0.05;
/** Containers round durations, so a clip may exceed the limit by this much. */
const LIMIT_SLACK_SECONDS = 0.5;

export function segmentSeconds(durationSeconds: number): number {
  return durationSeconds > SHORT_CLIP_SECONDS ? 4 : 2;
}

/** The orientation of the video; upright for a source without one. */
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

/** Rejects a source of which too little could be decoded. */
function checkCoverage(source: Source, { video, audio }: TranscodeResult): void {
  checkStream('video', source.video, video);
  // Screen recorders write empty audio tracks; such a file counts as silent video.
  if (source.video === null || audio.packets > 0) checkStream('audio', source.audio, audio);
  const isStill = STILL_CONTAINERS.has(source.format.container) && video.frames === 1;
  if (isStill)
    throw new MediaError('UNSUPPORTED_MEDIA', 'The file contains only a single picture.');
}

/** Image containers, which may hold one picture or an animation. */
const STILL_CONTAINERS: ReadonlySet<string> = new Set(['gif', 'webp_anim']);

/**
 * Rejects a source whose declared duration is too long. Returns the maximum duration to decode, in
 * seconds.
 */
function checkLength(
  { declaredSeconds }: Source,
  { maxDurationSeconds }: Pick<PrepareTask, 'maxDurationSeconds'>,
): number {
  const maxSeconds = maxDurationSeconds + LIMIT_SLACK_SECONDS;
  if ((declaredSeconds ?? 0) <= maxSeconds) return maxSeconds;
  throw new MediaError('TOO_LONG', `The recording is longer than ${maxDurationSeconds} seconds.`, {
    detail: `declared length ${declaredSeconds} seconds`,
  });
}

/**
 * Probes a source and writes its thumbnail, its first rung, and a master playlist for it.
 * @throws {MediaError} TOO_LONG, UNSUPPORTED_MEDIA or CORRUPT_MEDIA if the file is at fault
 */
export async function prepare(
  task: PrepareTask,
  watch: (meter: TaskMeter) => void,
): Promise<PrepareResult> {
  const meter = new TaskMeter();
  watch(meter);
  const source = await openSource(task.sourcePath, { onTurn: () => meter.addWork() });
  const maxSeconds = checkLength(source, task);
  const declared = describeSource(source);
  const ladder = planLadder(declared, task);
  meter.expect({ seconds: source.declaredSeconds, bytes: source.sizeBytes });
  const waveform = source.video === null ? new Waveform() : null;
  const sound = await measureSound(source, maxSeconds, meter, waveform);
  const loudness = loudnessChange(sound.loudness);
  const thumbnails = thumbnailWatcher(source, declared, task.outputDir);
  const hasShortStart = true;
  const cut = {
    segmentSeconds: segmentSeconds(declared.durationSeconds),
    hasShortStart,
    threads: task.threads ?? availableParallelism(),
  };
  const result = await transcode({
    ...cut,
    source,
    rungs: [ladder.first],
    parts: await planParts(source, ladder.first, cut),
    outputDir: task.outputDir,
    orientation: sourceOrientation(source),
    maxSeconds,
    meter,
    loudness,
    hasDownload: true,
    soundApart: nameOfFirstSound(source),
    ...(isPlayedEarly(task, declared) && {
      announce: (variants) =>
        writeFile(join(task.outputDir, MASTER_PLAYLIST), masterPlaylist(variants)),
    }),
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
  const isSoundApart = rungs.some((rung) => rung.sound !== undefined);
  const item = { ...info, hasShortStart, isSoundApart };
  const segmentStarts = await verifyAll(task.outputDir, rungs, item, null);
  await writeFile(join(task.outputDir, MASTER_PLAYLIST), masterPlaylist(rungs, result.video));
  return {
    info,
    thumbnailHash: waveform === null ? thumbnails.hash() : await drawn(waveform, task.outputDir),
    rungs,
    master: MASTER_PLAYLIST,
    remainingRungs: neededRungs(ladder, rungs[0], { ...result.video, ...info }),
    hasClosedCaptions: result.video.hasClosedCaptions,
    hasShortStart,
    segmentStarts: [...segmentStarts],
    loudness,
    ...(!hasLostSound(source) && { mayBeSpeech: sound.mayBeSpeech }),
    sourceTracks: toldTracks(source, result),
    warnings: [...source.warnings, ...damageWarnings(result)],
  };
}

function hasLostSound({ warnings }: Source): boolean {
  return warnings.some(({ code }) => code === 'SOUND_NOT_SUPPORTED');
}

/** Captions embedded in the pictures, which the container does not list as a track. */
const CLOSED_CAPTIONS: SourceTrack = {
  kind: 'subtitle',
  codec: 'eia_608',
  language: null,
  duration: null,
  used: true,
  reason: null,
};

/** The tracks as reported to the owner, corrected by the results of decoding. */
function toldTracks({ audio, tracks }: Source, coverage: TranscodeResult): SourceTrack[] {
  const isEmpty = (index: number): boolean =>
    index === audio?.stream.index && coverage.audio.frames === 0;
  const told = tracks.map((track, index): SourceTrack =>
    isEmpty(index) ? { ...track, used: false, reason: 'empty' } : track,
  );
  return coverage.video.hasClosedCaptions ? [...told, CLOSED_CAPTIONS] : told;
}

function damageWarnings({ audio, video }: TranscodeResult): SourceWarning[] {
  const failures = audio.failures + video.failures;
  if (failures === 0) return [];
  const packets = audio.packets + video.packets;
  const message = `${failures} of ${packets} packets could not be decoded and were left out.`;
  return [{ code: 'PARTLY_DAMAGED', message }];
}

/** Shorter videos are ready before anyone could start playing them early. */
function isPlayedEarly({ playsEarly }: PrepareTask, { durationSeconds, kind }: MediaInfo): boolean {
  return playsEarly === true && kind === 'video' && durationSeconds > SHORT_CLIP_SECONDS;
}

/** Alternative audio tracks are stored separately. Returns null if there is only one. */
function nameOfFirstSound({ audio, otherSounds }: Source): TrackName | null {
  if (audio === null || otherSounds.length === 0) return null;
  return nameOfStream(audio.stream, 'Audio');
}

/** The remaining rungs, except those that save nothing or would lose captions. */
function neededRungs(
  { first, remaining }: Ladder,
  made: Rendition | undefined,
  { hasAudio, hasClosedCaptions }: { hasAudio: boolean; hasClosedCaptions: boolean },
): Rung[] {
  if (first.kind !== 'video' || made === undefined) return [...remaining];
  const kept = hasClosedCaptions ? remaining.filter((rung) => !isAv1(rung)) : remaining;
  const sound = hasAudio && made.codecs.includes(',') ? AUDIO_BITRATE_BPS : 0;
  return withoutNeedless(kept, first, Math.max(0, made.averageBandwidthBps - sound));
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
