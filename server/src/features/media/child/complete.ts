import { writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Frame } from 'node-av/lib';
import { masterPlaylist } from '../master-playlist.ts';
import type { CompleteResult, CompleteTask, Rendition } from '../tasks.ts';
import { MASTER_PLAYLIST, segmentSeconds, sourceOrientation } from './prepare.ts';
import { readOrientation } from './describe.ts';
import { writeMovingPictures } from './moving-pictures.ts';
import { openSource, type Source } from './source.ts';
import { TaskMeter } from './task-meter.ts';
import { transcode } from './transcode.ts';

/** `prepare` measured the length; a later decode may differ by a frame or two. */
const SLACK_SECONDS = 2;

/**
 * Makes the rungs that `prepare` left, the preview and the storyboard, in one pass over the source,
 * and a master playlist that lists all rungs. The rungs of `prepare` lie elsewhere; the caller puts
 * the folders together.
 */
export async function complete(
  task: CompleteTask,
  watch: (meter: TaskMeter) => void,
): Promise<CompleteResult> {
  const { rungs } = task.prepared;
  const made = await makeRungs(task, watch);
  const all = [...rungs, ...made];
  await writeFile(join(task.outputDir, MASTER_PLAYLIST), masterPlaylist(all));
  return { rungs: all, master: MASTER_PLAYLIST };
}

async function makeRungs(
  task: CompleteTask,
  watch: (meter: TaskMeter) => void,
): Promise<Rendition[]> {
  const { info, remainingRungs } = task.prepared;
  const source = await openSource(task.sourcePath);
  const meter = new TaskMeter({ seconds: info.durationSeconds, bytes: source.sizeBytes });
  watch(meter);
  const { finish } = await transcode({
    source,
    sourcePath: task.sourcePath,
    parts: null,
    rungs: remainingRungs,
    outputDir: task.outputDir,
    segmentSeconds: segmentSeconds(source.declaredSeconds ?? 0),
    orientation: sourceOrientation(source),
    threads: task.threads ?? availableParallelism(),
    maxSeconds: info.durationSeconds + SLACK_SECONDS,
    meter,
    loudness: task.prepared.loudness ?? null,
    hasDownload: false,
    watchFrames: (frames) => watchPictures(frames, source, task),
  });
  return finish();
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
