import { constants, setPriority } from 'node:os';
import { MediaError } from '../media-error.ts';
import type { ChildMessage, MediaTask } from '../tasks.ts';
import type { TaskMeter } from './task-meter.ts';

/**
 * The media child: receives one task over IPC, then sends progress and finally one result or
 * failure.
 *
 * It is the only process that loads FFmpeg. It never outlives its parent: when the channel closes
 * for any reason, it kills itself with SIGKILL, because a normal exit would wait for native
 * threads.
 */

const PROGRESS_INTERVAL_MS = 250;

function die(): never {
  process.kill(process.pid, 'SIGKILL');
  throw new Error('unreachable');
}

function send(message: ChildMessage): Promise<void> {
  return new Promise((resolve) => {
    process.send?.(message, undefined, undefined, () => resolve());
  });
}

function reportProgress(meter: TaskMeter): void {
  const report = (): void => {
    const { fraction, work } = meter;
    void send({ type: 'progress', fraction, work, residentBytes: process.memoryUsage.rss() });
  };
  setInterval(report, PROGRESS_INTERVAL_MS).unref();
}

/** Loads FFmpeg and only the modules that the task needs. */
async function run(task: MediaTask): Promise<unknown> {
  if (task.type === 'image') return (await import('./tasks/image.ts')).convertImage(task);
  const [{ Log }, { AV_LOG_WARNING }] = await Promise.all([
    import('node-av/lib'),
    import('node-av/constants'),
  ]);
  Log.setLevel(AV_LOG_WARNING);
  switch (task.type) {
    case 'prepare':
      return (await import('./tasks/prepare.ts')).prepare(task, reportProgress);
    case 'complete':
      return (await import('./tasks/complete.ts')).complete(task, reportProgress);
    case 'still':
      return (await import('./tasks/cover.ts')).makeCoverFiles(task, reportProgress);
    case 'transcribe':
      return (await import('./tasks/transcribe.ts')).transcribe(task, reportProgress);
    case 'live':
      return (await import('./tasks/live.ts')).transcodeLive();
    case 'remux':
      return (await import('./tasks/remux.ts')).remux();
    case 'generate':
      return (await import('./tasks/generate.ts')).generate(task, reportProgress);
    default:
      return task satisfies never;
  }
}

function failure(error: unknown): ChildMessage {
  if (error instanceof MediaError) {
    const { code, message, detail, retryable } = error;
    return { type: 'failure', code, message, detail, retryable };
  }
  return {
    type: 'failure',
    code: 'PROCESSING_FAILED',
    message: 'The media could not be processed.',
    detail: error instanceof Error ? (error.stack ?? error.message) : String(error),
    retryable: true,
  };
}

async function answer(task: MediaTask): Promise<void> {
  try {
    await send({ type: 'result', result: await run(task) });
  } catch (error) {
    await send(failure(error));
  }
  die();
}

process.on('disconnect', die);
try {
  setPriority(Math.min(Number(process.argv[2]), constants.priority.PRIORITY_LOW));
} catch {
  // If it may not change its priority, the child keeps the inherited one.
}
process.once('message', (task: MediaTask) => void answer(task));
