import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mediaSample, type ClipName, type HostileName } from '../../../../test/media-samples.ts';
import { runMediaTask, type MediaTaskOptions } from '../media.ts';
import type { PrepareResult } from '../tasks.ts';

/** Limits that no healthy test task reaches. */
export const GENEROUS: MediaTaskOptions = {
  deadlineMs: 120_000,
  stallMs: 60_000,
  memoryLimitBytes: 3 * 1024 ** 3,
  signal: new AbortController().signal,
};

export type WorkFolder = AsyncDisposable & {
  readonly path: string;
};

/** A new folder that is removed at the end of the scope. */
export async function workFolder(): Promise<WorkFolder> {
  const path = await mkdtemp(join(tmpdir(), 'reelfeed-media-'));
  return {
    path,
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}

/** Runs `prepare` on a sample into `<folder>/prepared`. */
export async function prepareSample(
  folder: WorkFolder,
  name: ClipName | HostileName,
  options: Partial<MediaTaskOptions> & {
    maxDurationSeconds?: number;
    quality?: 'basic' | 'plus';
    threads?: number;
  } = {},
): Promise<PrepareResult & { outputDir: string }> {
  const { maxDurationSeconds = 600, quality = 'basic', threads, ...limits } = options;
  const outputDir = join(folder.path, 'prepared');
  const sourcePath = await mediaSample(name);
  const result = await runMediaTask(
    {
      type: 'prepare',
      sourcePath,
      outputDir,
      maxDurationSeconds,
      quality,
      ...(threads === undefined ? {} : { threads }),
    },
    { ...GENEROUS, ...limits },
  );
  return { ...result, outputDir };
}
