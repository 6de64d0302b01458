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
