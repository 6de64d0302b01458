import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MediaError, runMediaTask } from '../media.ts';
import type { HostileFile } from './hostile-files.ts';
import { GENEROUS, workFolder } from './run-task.ts';

const MAX_DURATION_SECONDS = 600;

/** Has the engine prepare a file. Returns `ready` or the code of its error; all else throws. */
export async function tryFile({ name, bytes }: HostileFile, deadlineMs: number): Promise<string> {
  await using folder = await workFolder();
  const sourcePath = join(folder.path, name);
  await writeFile(sourcePath, bytes);
  const outputDir = join(folder.path, 'prepared');
  try {
    await runMediaTask(
      {
        type: 'prepare',
        sourcePath,
        outputDir,
        maxDurationSeconds: MAX_DURATION_SECONDS,
        quality: 'basic',
      },
      { ...GENEROUS, deadlineMs },
    );
    return 'ready';
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    return `${error.code}${error.retryable ? ` (${error.detail})` : ''}`;
  }
}

/**
 * Has the engine prepare a hostile file, and throws unless it plays or is refused for its bytes: a
 * script in any case, and ten hours in less than 100 kB as too long.
 * Returns the name and the outcome.
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
