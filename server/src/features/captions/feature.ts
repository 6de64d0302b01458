import type { Db } from '../../platform/database/database.ts';
import { extend } from '../../platform/feature/extension-point.ts';
import { defineFeature } from '../../platform/feature/feature.ts';
import type { Hints } from '../../platform/hints/hints.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { contentChanged, type MediaUrls } from '../content/content.ts';
import { subtitleStores } from '../processing/processing.ts';
import type { UploadLimits } from '../uploads/uploads.ts';
import { storeEmbedded } from './embedded.ts';
import { addCaptionRoutes } from './routes.ts';

type Parts = {
  db: Db;
  mutations: Mutations;
  storage: Storage;
  mediaAccess: MediaUrls;
  hints: Hints;
  uploadLimits: UploadLimits;
};

export const captions = defineFeature({
  name: 'captions',
  apiTags: {
    Captions: 'Subtitles of videos.',
  },
  extensions: [extend(subtitleStores, storeEmbedded)],
  build: ({ mediaAccess, hints, uploadLimits, ...parts }: Parts) => ({
    routes: (app) =>
      addCaptionRoutes(app, {
        ...parts,
        urls: mediaAccess,
        upload: uploadLimits,
        onChange: () => hints.give(contentChanged),
      }),
  }),
});
