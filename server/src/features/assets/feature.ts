import type { Db } from '../../platform/database/database.ts';
import { defineFeature } from '../../platform/feature/feature.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { assetFilesJob } from './jobs.ts';

export const assets = defineFeature({
  name: 'assets',
  tables: ['asset'],
  build: ({ db, storage }: { db: Db; storage: Storage }) => ({
    jobs: [assetFilesJob({ db, storage })],
  }),
});
