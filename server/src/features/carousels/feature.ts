import type { Db } from '../../platform/database/database.ts';
import { defineFeature } from '../../platform/feature/feature.ts';
import type { Hints } from '../../platform/hints/hints.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { contentChanged, type MediaUrls } from '../content/content.ts';
import type { ImageDecoder } from '../media/media.ts';
import type { UploadLimits } from '../uploads/uploads.ts';
import { addCarouselRoutes } from './routes.ts';

type Parts = {
  db: Db;
  mutations: Mutations;
  storage: Storage;
  mediaAccess: MediaUrls;
  hints: Hints;
  uploadLimits: UploadLimits;
  imageDecoder: ImageDecoder;
};

export const carousels = defineFeature({
  name: 'carousels',
  apiTags: {
    Carousels: 'Items made of images or of videos.',
  },
  build: ({ mediaAccess, hints, uploadLimits, ...parts }: Parts) => ({
    routes: (app) =>
      addCarouselRoutes(app, {
        ...parts,
        urls: mediaAccess,
        upload: uploadLimits,
        onChange: () => hints.give(contentChanged),
      }),
  }),
});
