/** Speech recognition checks of `reelfeed doctor`. */
import { access, constants, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Finding } from '../../platform/feature/finding.ts';
import { generateClip, MediaError, runMediaTask } from '../media/media.ts';

const speechTrialMs = 300_000;

export type SpeechSettings = {
  readonly whisperModel: string | null;
  readonly whisperMemoryBytes: number;
};

/** Loads the model and runs it on one second of a tone. */
export async function checkSpeech({
  whisperModel,
  whisperMemoryBytes,
}: SpeechSettings): Promise<Finding> {
  const subject = 'Speech';
  if (whisperModel === null) {
    const detail = 'no captions are made, and the language is always "und"';
    const mend =
      'Set REELFEED_WHISPER_MODEL to a ggml model of whisper.cpp, such as ggml-base.bin.';
    return { subject, state: 'note', detail, mend };
  }
  const mend =
    'Set a readable ggml model of whisper.cpp, install what is missing, and run npm ci if FFmpeg lacks the filter.';
  const problem = (detail: string): Finding => ({ subject, state: 'problem', detail, mend });
  const isThere = await access(whisperModel, constants.R_OK).then(
    () => true,
    () => false,
  );
  if (!isThere) return problem(`the model ${whisperModel} cannot be read`);
  const folder = await mkdtemp(path.join(os.tmpdir(), 'reelfeed-doctor-'));
  try {
    const sourcePath = path.join(folder, 'sound.m4a');
    const sound = { source: 'none', width: 0, height: 0, seconds: 1, frameRate: 1 } as const;
    await generateClip({ ...sound, path: sourcePath, tone: 200 }, AbortSignal.timeout(30_000));
    await runMediaTask(
      {
        type: 'transcribe',
        sourcePath,
        outputDir: path.join(folder, 'out'),
        modelPath: path.resolve(whisperModel),
        language: null,
        maxDurationSeconds: 60,
      },
      {
        memoryLimitBytes: whisperMemoryBytes,
        deadlineMs: speechTrialMs,
        stallMs: speechTrialMs,
        signal: AbortSignal.timeout(speechTrialMs),
      },
    );
    return { subject, state: 'ok', detail: `${whisperModel} is loaded by FFmpeg's whisper filter` };
  } catch (error) {
    return problem(`${whisperModel} cannot be used: ${reasonOf(error)}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The first line of the engine's error is enough to tell a wrong file from a missing filter. */
function reasonOf(error: unknown): string {
  const text = error instanceof MediaError ? error.detail : (error as Error).message;
  return text.split('\n')[0] ?? text;
}
