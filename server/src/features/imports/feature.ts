import { duration, integer } from '../../platform/settings/config-values.ts';
import type { Db } from '../../platform/database/database.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import { extend } from '../../platform/feature/extension-point.ts';
import { defineFeature } from '../../platform/feature/feature.ts';
import type { Hints } from '../../platform/hints/hints.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import { setting } from '../../platform/settings/settings.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import type { SourceBuckets } from '../../platform/storage/source-buckets.ts';
import { contentChanged, type MediaUrls } from '../content/content.ts';
import type { ImageDecoder } from '../media/media.ts';
import { processMedia, sourceRetries } from '../processing/processing.ts';
import type { UploadLimits } from '../uploads/uploads.ts';
import { webhookEvents } from '../webhooks/webhooks.ts';
import { finishImports } from './finished.ts';
import { importMedia, retryImport } from './imports.ts';
import { importJob } from './jobs.ts';
import { addImportRoutes } from './routes.ts';
import { importEvents } from './webhook-events.ts';

type Parts = {
  db: Db;
  mutations: Mutations;
  storage: Storage;
  egress: Egress;
  sourceBuckets: SourceBuckets;
  imageDecoder: ImageDecoder;
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
        'Maximum number of imports that this process fetches at the same time. One organization gets at most a fifth of them.',
    }),
    importDeadlineMs: setting({
      env: 'REELFEED_IMPORT_DEADLINE',
      parse: duration({ min: '1s', max: '12h' }),
      fallback: '1h',
      about: 'Time limit for fetching the bytes of one import.',
    }),
  },
  tables: ['import_source', 'content_import', 'content_import_item'],
  extensions: [extend(sourceRetries, retryImport), extend(webhookEvents, importEvents)],
  build(parts: Parts, settings) {
    const { db, mutations, storage, egress, mediaAccess, hints, uploadLimits } = parts;
    const { sourceBuckets: buckets, imageDecoder } = parts;
    return {
      routes: (app) =>
        addImportRoutes(app, {
          db,
          sourceRules: { egress, buckets },
          mutations,
          urls: mediaAccess,
          onQueued: () => hints.give(importMedia.name),
        }),
      jobs: [
        importJob({
          db,
          storage,
          egress,
          buckets,
          imageDecoder,
          upload: uploadLimits,
          limits: {
            get maxBytes() {
              return uploadLimits.maxUploadBytes;
            },
            deadlineMs: settings.importDeadlineMs,
            minBytesPerSecond,
          },
          concurrency: settings.importConcurrency,
          onImported: () => hints.give(processMedia.name),
          onReady: () => hints.give(contentChanged),
        }),
      ],
      chores: [
        {
          name: 'finish imports',
          intervalMs: 2_000,
          run: (signal) => finishImports(db, signal),
        },
      ],
    };
  },
});
