import { runMediaTask } from './run-task.ts';
import type { ClipSpec } from './clip-spec.ts';
import type { GenerateResult } from './tasks.ts';

const DEADLINE_MS = 120_000;
const STALL_MS = 30_000;
const MEMORY_LIMIT_BYTES = 2 * 1024 ** 3;

/**
 * Generates a media file from FFmpeg's synthetic sources; nothing is downloaded. The folder of
 * `spec.path` must exist; an existing file is overwritten.
 */
export function generateClip(spec: ClipSpec, signal: AbortSignal): Promise<GenerateResult> {
  return runMediaTask(
    { type: 'generate', clip: spec },
    { deadlineMs: DEADLINE_MS, stallMs: STALL_MS, memoryLimitBytes: MEMORY_LIMIT_BYTES, signal },
  );
}
