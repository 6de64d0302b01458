import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MediaError, runMediaTask, TIMELINE_START_SECONDS } from '../media.ts';
import type { PrepareResult } from '../tasks.ts';
import { decodeFile } from './corpus/decode-file.ts';
import { joinRendition } from './corpus/judge.ts';
import type { HostileFile } from './hostile-files.ts';
import { GENEROUS, workFolder } from './run-task.ts';

const MAX_DURATION_SECONDS = 600;
/** The service's default. */
const STALL_MS = 20_000;
const MAX_SOUND_EDGE_SECONDS = 0.25;
const MS_PER_TICK = 10;

/** CPU time of all terminated children of this process, in milliseconds. */
export async function childrenCpuMs(): Promise<number> {
  const stat = await readFile('/proc/self/stat', 'utf8').catch(() => '');
  // Fields 16 and 17 of proc_pid_stat(5), counted from after the process name.
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(13, 15);
  return (Number(user ?? 0) + Number(system ?? 0)) * MS_PER_TICK;
}

/** Decodes the full output; throws if a player would not reach the end. */
async function assertPlays(result: PrepareResult, outputDir: string): Promise<void> {
  for (const rendition of result.rungs) {
    const { height, width } = rendition;
    const size = width === null || height === null ? null : { width, height };
    const made = await decodeFile(await joinRendition(outputDir, rendition), size);
    assert.ok(size === null || made.pictures.length > 0, 'it has a picture');
    const end = TIMELINE_START_SECONDS + result.info.durationSeconds;
    const isWhole = Math.abs(made.soundEndSeconds - end) <= MAX_SOUND_EDGE_SECONDS;
    assert.ok(!result.info.hasAudio || isWhole, `sound ends at ${made.soundEndSeconds} of ${end}`);
  }
}

/**
 * Runs `prepare` on a file. Returns `ready` or the media error's code. Any other error is thrown,
 * including for an item that is ready but does not play.
 */
export async function tryFile({ name, bytes }: HostileFile, deadlineMs: number): Promise<string> {
  await using folder = await workFolder();
  const sourcePath = join(folder.path, name);
  await writeFile(sourcePath, bytes);
  const outputDir = join(folder.path, 'prepared');
  try {
    const result = await runMediaTask(
      {
        type: 'prepare',
        sourcePath,
        outputDir,
        maxDurationSeconds: MAX_DURATION_SECONDS,
        quality: 'basic',
      },
      { ...GENEROUS, deadlineMs, stallMs: STALL_MS },
    );
    await assertPlays(result, outputDir);
    return 'ready';
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    return `${error.code}${error.retryable ? ` (${error.detail})` : ''}`;
  }
}

/**
 * Runs `prepare` on a hostile file. Throws unless it plays or is rejected as invalid; a script must
 * always be rejected, and ten hours in less than 100 kB must be rejected as too long. Returns the
 * name and the outcome.
 */
export async function assertAnswered(file: HostileFile, deadlineMs: number): Promise<string> {
  const { bytes, name } = file;
  const outcome = await tryFile(file, deadlineMs);
  const line = `${name}: ${outcome}`;
  assert.match(outcome, /^(ready|UNSUPPORTED_MEDIA|CORRUPT_MEDIA|TOO_LONG)$/, line);
  if (/^(playlist|concat)/.test(name)) assert.equal(outcome, 'UNSUPPORTED_MEDIA', line);
  if (name === 'ten-hours.mp4') {
    assert.equal(outcome, 'TOO_LONG', line);
    assert.ok(bytes.length < 100_000);
  }
  return line;
}
