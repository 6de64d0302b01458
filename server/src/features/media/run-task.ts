import { mkdir, readdir, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { step } from '../../platform/tracing/tracing.ts';
import { runInChild, type MediaTaskOptions } from './child-process.ts';
import {
  CompleteResultSchema,
  GenerateResultSchema,
  ImageResultSchema,
  PrepareResultSchema,
  ThumbnailFactsSchema,
  TranscribeResultSchema,
  type CompleteResult,
  type CompleteTask,
  type GenerateResult,
  type GenerateTask,
  type ImageResult,
  type ImageTask,
  type LiveTask,
  type RemuxTask,
  type MediaTask,
  type PrepareResult,
  type PrepareTask,
  type StillTask,
  type ThumbnailFacts,
  type TranscribeResult,
  type TranscribeTask,
} from './tasks.ts';

/** Creates a task's output folder, or checks that the existing one is empty. */
async function createOutputDir(path: string): Promise<void> {
  await mkdir(path, { recursive: true });
  if ((await readdir(path)).length > 0) throw new Error(`The output folder ${path} is not empty.`);
}

async function runIntoFolder<T>(outputDir: string, run: () => Promise<T>): Promise<T> {
  await createOutputDir(outputDir);
  try {
    return await run();
  } catch (error) {
    await rm(outputDir, { recursive: true, force: true });
    throw error;
  }
}

/**
 * Runs one media task in its own child process, which is gone when the promise settles.
 *
 * All tasks except `generate` write into `outputDir`, which must be new or empty and is removed if
 * the task fails. `generate` writes only its clip.
 * @throws {MediaError} with a code, a message for the item's owner and `retryable`, or the signal's
 *   reason when aborted
 */
export function runMediaTask(task: PrepareTask, options: MediaTaskOptions): Promise<PrepareResult>;
export function runMediaTask(
  task: CompleteTask,
  options: MediaTaskOptions,
): Promise<CompleteResult>;
export function runMediaTask(
  task: GenerateTask,
  options: MediaTaskOptions,
): Promise<GenerateResult>;
export function runMediaTask(task: ImageTask, options: MediaTaskOptions): Promise<ImageResult>;
export function runMediaTask(task: StillTask, options: MediaTaskOptions): Promise<ThumbnailFacts>;
export function runMediaTask(
  task: TranscribeTask,
  options: MediaTaskOptions,
): Promise<TranscribeResult>;
export function runMediaTask(task: QueuedTask, options: MediaTaskOptions): Promise<AnyResult> {
  return step(`media ${task.type}`, {}, () => runAny(task, options));
}

/** Live tasks run for a long time and are not started as jobs. */
type QueuedTask = Exclude<MediaTask, LiveTask | RemuxTask>;

type AnyResult =
  | PrepareResult
  | CompleteResult
  | GenerateResult
  | ImageResult
  | ThumbnailFacts
  | TranscribeResult;

function runAny(task: QueuedTask, options: MediaTaskOptions): Promise<AnyResult> {
  switch (task.type) {
    case 'prepare':
      return runIntoFolder(task.outputDir, () =>
        runInChild(task, PrepareResultSchema, task.outputDir, options),
      );
    case 'complete':
      return runIntoFolder(task.outputDir, () =>
        runInChild(task, CompleteResultSchema, task.outputDir, options),
      );
    case 'image':
      return runIntoFolder(task.outputDir, () =>
        runInChild(task, ImageResultSchema, task.outputDir, options),
      );
    case 'still':
      return runIntoFolder(task.outputDir, () =>
        runInChild(task, ThumbnailFactsSchema, task.outputDir, options),
      );
    case 'transcribe':
      return runIntoFolder(task.outputDir, () =>
        runInChild(task, TranscribeResultSchema, task.outputDir, options),
      );
    case 'generate':
      return runInChild(task, GenerateResultSchema, dirname(task.clip.path), options);
    default:
      return task satisfies never;
  }
}
