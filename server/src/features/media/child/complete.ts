import { writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { masterPlaylist } from '../master-playlist.ts';
import type { CompleteResult, CompleteTask, Rendition } from '../tasks.ts';
import { MASTER_PLAYLIST, segmentSeconds, sourceOrientation } from './prepare.ts';
import { openSource } from './source.ts';
import { TaskMeter } from './task-meter.ts';
import { transcode } from './transcode.ts';

/** `prepare` measured the length; a later decode may differ by a frame or two. */
const SLACK_SECONDS = 2;

/**
 * Makes the rungs that `prepare` left, in one pass over the source, and a master playlist that
 * lists all of them. The rungs of `prepare` lie elsewhere; the caller puts the folders together.
 */
export async function complete(
  task: CompleteTask,
  watch: (meter: TaskMeter) => void,
): Promise<CompleteResult> {
  const { remainingRungs, rungs } = task.prepared;
  const made = remainingRungs.length === 0 ? [] : await makeRungs(task, watch);
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
    rungs: remainingRungs,
    outputDir: task.outputDir,
    segmentSeconds: segmentSeconds(source.declaredSeconds ?? 0),
    orientation: sourceOrientation(source),
    threads: task.threads ?? availableParallelism(),
    maxSeconds: info.durationSeconds + SLACK_SECONDS,
    meter,
    loudness: task.prepared.loudness ?? null,
  });
  return finish();
}
