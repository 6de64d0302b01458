import path from 'node:path';
import { bytes, optional, text } from '../../platform/settings/config-values.ts';
import type { Db } from '../../platform/database/database.ts';
import { extend } from '../../platform/feature/extension-point.ts';
import { defineFeature } from '../../platform/feature/feature.ts';
import type { Hints } from '../../platform/hints/hints.ts';
import { setting } from '../../platform/settings/settings.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { contentChanged } from '../content/content.ts';
import { stepsAfterReady } from '../processing/processing.ts';
import { checkSpeech } from './checks.ts';
import { speechJob } from './jobs.ts';
import { transcribeReady } from './speech.ts';

type Parts = { db: Db; storage: Storage; hints: Hints; mediaNiceness: number };

export const speech = defineFeature({
  name: 'speech',
  settings: {
    whisperModel: setting({
      env: 'REELFEED_WHISPER_MODEL',
      parse: optional(text()),
      fallback: '',
      about:
        'Model file of whisper.cpp (ggml) for language detection and captions. Empty: speech recognition is off.',
    }),
    whisperMemoryBytes: setting({
      env: 'REELFEED_WHISPER_MEMORY_BYTES',
      parse: bytes({ min: '256MB' }),
      fallback: '4GB',
      about: 'Maximum memory of speech recognition: the size of the model plus 500 MB.',
    }),
  },
  extensions: [extend(stepsAfterReady, transcribeReady)],
  checks: { Speech: async (settings) => [await checkSpeech(settings)] },
  build({ db, storage, hints, mediaNiceness }: Parts, settings) {
    const job = speechJob({
      db,
      storage,
      modelPath: settings.whisperModel === null ? null : path.resolve(settings.whisperModel),
      memoryLimitBytes: settings.whisperMemoryBytes,
      niceness: mediaNiceness,
      onChange: () => hints.give(contentChanged),
    });
    return { jobs: [{ ...job, roles: ['media'] }] };
  },
});
