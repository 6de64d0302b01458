import { defineFeature } from '../../platform/feature.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { assetFilesJob } from './jobs.ts';

export const assets = defineFeature({
  name: 'assets',
  tables: ['asset'],
  build: ({ storage }: { storage: Storage }) => ({ jobs: [assetFilesJob({ storage })] }),
});
