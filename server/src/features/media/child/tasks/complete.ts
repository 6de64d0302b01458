import { writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Frame } from 'node-av/lib';
import { masterPlaylist } from '../../master-playlist.ts';
import type { CompleteResult, CompleteTask, Rendition } from '../../tasks.ts';
import { MASTER_PLAYLIST, segmentSeconds, sourceOrientation } from './prepare.ts';
import { readOrientation } from '../source/describe.ts';
import { writeMovingPictures } from '../picture/moving-pictures.ts';
import { makeOtherSounds } from '../rendition/sound-tracks.ts';
import { openSource, type Source } from '../source/source.ts';
import { writeSubtitles } from '../rendition/subtitles.ts';
import { TaskMeter } from '../task-meter.ts';
import { transcode } from '../rendition/transcode.ts';
import { verifyAll } from '../rendition/verify.ts';

/** `prepare` measured the duration; a later decode may differ by a frame or two. */
const SLACK_SECONDS = 2;

/**
 * Creates the rungs that `prepare` left out, the preview and the storyboard in one pass over the
 * source, plus a master playlist of all rungs. The rungs made by `prepare` are in another folder;
 * the caller merges the two.
 */
export async function complete(
  task: CompleteTask,
  watch: (meter: TaskMeter) => void,
): Promise<CompleteResult> {
  const { onlyRungs = false, outputDir, prepared } = task;
  const meter = new TaskMeter();
  watch(meter);
  const source = await openSource(task.sourcePath, { onTurn: () => meter.addWork() });
  meter.expect({ seconds: prepared.info.durationSeconds, bytes: source.sizeBytes });
  const all = [...prepared.rungs, ...(await makeRungs(task, source, meter))];
  await writeFile(join(outputDir, MASTER_PLAYLIST), masterPlaylist(all, prepared));
  if (onlyRungs) return { rungs: all, master: MASTER_PLAYLIST };
  const subtitles = await writeSubtitles(source, outputDir, meter);
  return { rungs: all, master: MASTER_PLAYLIST, subtitles };
}

/** The remaining renditions, followed by the alternative audio tracks. */
async function makeRungs(
  task: CompleteTask,
  opened: Source,
  meter: TaskMeter,
): Promise<Rendition[]> {
  const { onlyRungs = false, outputDir, prepared } = task;
  const { hasShortStart = false, info, segmentStarts = null } = prepared;
  const { durationSeconds } = info;
  const isSoundApart = prepared.rungs.some(({ sound }) => sound !== undefined);
  const source = isSoundApart ? { ...opened, audio: null } : opened;
  const cut = { segmentSeconds: segmentSeconds(source.declaredSeconds ?? 0), outputDir, meter };
  const { finish } = await transcode({
    ...cut,
    source,
    parts: null,
    rungs: prepared.remainingRungs.filter(
      ({ kind }) => kind === 'video' || (info.hasAudio && !isSoundApart),
    ),
    hasShortStart,
    orientation: sourceOrientation(source),
    threads: task.threads ?? availableParallelism(),
    maxSeconds: durationSeconds + SLACK_SECONDS,
    loudness: prepared.loudness ?? null,
    hasDownload: false,
    soundApart: null,
    ...(isSoundApart && { soundEndSeconds: durationSeconds }),
    ...(!onlyRungs && { watchFrames: (frames) => watchPictures(frames, source, task) }),
  });
  const made = await finish();
  if (isSoundApart && !onlyRungs) {
    made.push(...(await makeOtherSounds({ ...cut, source, endSeconds: durationSeconds })));
  }
  await verifyAll(outputDir, made, { ...info, hasShortStart, isSoundApart }, segmentStarts);
  return made;
}

async function watchPictures(
  frames: AsyncIterable<Frame>,
  { video }: Source,
  { outputDir, prepared }: CompleteTask,
): Promise<void> {
  const { durationSeconds, width, height } = prepared.info;
  if (video === null || width === null || height === null) return;
  const orientation = readOrientation(video);
  const timeBase = video.stream.timeBase;
  const size = { width, height, durationSeconds };
  await writeMovingPictures(frames, { ...size, outputDir, timeBase, orientation });
}
