import { bytes, duration, longestTimer } from '../../platform/settings/config-values.ts';
import type { Db } from '../../platform/database/database.ts';
import { defineFeature } from '../../platform/feature/feature.ts';
import type { Hints } from '../../platform/hints/hints.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import { setting } from '../../platform/settings/settings.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { dayMs, hourMs } from '../../platform/values/time.ts';
import type { MediaUrls } from '../content/content.ts';
import { processMedia } from '../processing/processing.ts';
import { uploadErrors } from './errors.ts';
import { expireUploads, sweepParts, sweepSources } from './maintenance.ts';
import { addUploadRoutes } from './routes.ts';

type Parts = {
  db: Db;
  mutations: Mutations;
  storage: Storage;
  mediaAccess: MediaUrls;
  hints: Hints;
  publicUrl: string;
  /** Whether no other process shares the data directory. */
  ownsDataDirectory: boolean;
};

export const uploads = defineFeature({
  name: 'uploads',
  areas: { uploads: 'content' },
  settings: {
    maxUploadBytes: setting({
      env: 'REELFEED_MAX_UPLOAD_BYTES',
      parse: bytes({ min: '1KB' }),
      fallback: '5GB',
      about: 'Maximum size of an upload.',
      reloads: true,
    }),
    minFreeBytes: setting({
      env: 'REELFEED_MIN_FREE_BYTES',
      parse: bytes(),
      fallback: '512MB',
      about:
        'Uploads are rejected and live streams end while the disk has less free space than this, so that space remains for the database.',
      reloads: true,
    }),
    uploadExpiryMs: setting({
      env: 'REELFEED_UPLOAD_EXPIRY',
      parse: duration({ min: '1m' }),
      fallback: '24h',
      about: 'How long an upload URL stays valid.',
    }),
    uploadSilenceMs: setting({
      env: 'REELFEED_UPLOAD_SILENCE',
      parse: duration({ min: '1s', max: longestTimer }),
      fallback: '30s',
      about: 'An upload that receives less than a kilobyte in this time is aborted.',
    }),
  },
  errors: uploadErrors,
  tables: ['upload_session'],
  build(parts: Parts, settings) {
    const { db, mutations, storage, mediaAccess, hints, publicUrl, ownsDataDirectory } = parts;
    const startedAt = Date.now();
    // If the storage's clock is behind, files of this process may seem older than its start.
    const ownSince = ownsDataDirectory ? startedAt - storage.maxClockSkewMs : 0;
    const settledBefore = () => Math.max(Date.now() - dayMs, ownSince);
    const uploadLimits = {
      // Getters, because both can be reloaded.
      get maxUploadBytes() {
        return settings.maxUploadBytes;
      },
      get minFreeBytes() {
        return settings.minFreeBytes;
      },
      arrival: { windowMs: settings.uploadSilenceMs, leastBytes: 1024 },
    };
    return {
      provides: { uploadLimits },
      routes: (app) =>
        addUploadRoutes(app, {
          db,
          storage,
          mutations,
          urls: mediaAccess,
          publicUrl,
          limits: uploadLimits,
          expiryMs: settings.uploadExpiryMs,
          onUploaded: () => hints.give(processMedia.name),
        }),
      chores: [
        { name: 'expire uploads', intervalMs: 30_000, run: (signal) => expireUploads(db, signal) },
        {
          name: 'sweep sources',
          intervalMs: dayMs,
          run: (signal) => sweepSources(db, storage, new Date(settledBefore()), signal),
        },
        {
          name: 'sweep parts of uploads',
          intervalMs: hourMs,
          run: (signal) => sweepParts(db, storage, signal),
        },
        {
          name: 'clean up work',
          intervalMs: hourMs,
          isLocal: true,
          // No other process uses our own data directory, so files that this process does not hold
          // are leftovers.
          run: (signal) => storage.cleanUp(ownsDataDirectory ? 0 : dayMs, signal),
        },
      ],
    };
  },
});
