import { duration, integer } from '../../platform/config-values.ts';
import type { Db } from '../../platform/database/database.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import { defineFeature } from '../../platform/feature.ts';
import type { Hints } from '../../platform/hints.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import { setting } from '../../platform/settings.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import type { MediaUrls } from '../content/content.ts';
import { processMedia } from '../processing/processing.ts';
import type { UploadLimits } from '../uploads/uploads.ts';
import { importMedia } from './imports.ts';
import { importJob } from './jobs.ts';
import { addImportRoutes } from './routes.ts';

type Parts = {
  db: Db;
  mutations: Mutations;
  storage: Storage;
  egress: Egress;
  mediaAccess: MediaUrls;
  hints: Hints;
  uploadLimits: UploadLimits;
};

const minBytesPerSecond = 1024;

export const imports = defineFeature({
  name: 'imports',
  settings: {
    importConcurrency: setting({
      env: 'REELFEED_IMPORT_CONCURRENCY',
      parse: integer({ min: 1, max: 256 }),
      fallback: '64',
      about:
        'Imports that this process fetches at the same time; one organization gets at most a fifth of them.',
    }),
    importDeadlineMs: setting({
      env: 'REELFEED_IMPORT_DEADLINE',
      parse: duration({ min: '1s', max: '12h' }),
      fallback: '1h',
      about: 'How long fetching the bytes of one import may take.',
    }),
  },
  tables: ['import_source'],
  build({ db, mutations, storage, egress, mediaAccess, hints, uploadLimits }: Parts, settings) {
    return {
      routes: (app) =>
        addImportRoutes(app, {
          db,
          egress,
          mutations,
          urls: mediaAccess,
          onQueued: () => hints.give(importMedia.name),
        }),
      jobs: [
        importJob({
          db,
          storage,
          egress,
          upload: uploadLimits,
          limits: {
            maxBytes: uploadLimits.maxUploadBytes,
            deadlineMs: settings.importDeadlineMs,
            minBytesPerSecond,
          },
          concurrency: settings.importConcurrency,
          onImported: () => hints.give(processMedia.name),
        }),
      ],
    };
  },
});
