import type { Db } from '../../platform/database/database.ts';
import { defineFeature } from '../../platform/feature/feature.ts';
import type { Hints } from '../../platform/hints/hints.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { contentChanged, type MediaUrls } from '../content/content.ts';
import type { ImageDecoder } from '../media/media.ts';
import type { UploadLimits } from '../uploads/uploads.ts';
import { coverJob } from './jobs.ts';
import { addCoverRoutes } from './routes.ts';

type Parts = {
  db: Db;
  mutations: Mutations;
  storage: Storage;
  mediaAccess: MediaUrls;
  hints: Hints;
  uploadLimits: UploadLimits;
  imageDecoder: ImageDecoder;
  mediaNiceness: number;
};

/** A single picture is decoded, from the preceding key frame. */
const limits = { deadlineMs: 5 * 60_000, stallMs: 60_000, memoryLimitBytes: 2 * 1024 ** 3 };

export const covers = defineFeature({
  name: 'covers',
  build: ({ hints, mediaAccess, mediaNiceness, uploadLimits, ...parts }: Parts) => {
    const onChange = () => hints.give(contentChanged);
    const job = coverJob({ ...parts, limits: { ...limits, niceness: mediaNiceness }, onChange });
    return {
      routes: (app) =>
        addCoverRoutes(app, { ...parts, urls: mediaAccess, upload: uploadLimits, onChange }),
      jobs: [{ ...job, roles: ['media'] }],
    };
  },
});
