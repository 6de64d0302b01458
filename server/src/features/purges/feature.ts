import type { Logger } from 'pino';
import type { Db } from '../../platform/database/database.ts';
import { defineFeature, type EveryFeature } from '../../platform/feature.ts';
import type { ListCursors } from '../../platform/http/list-cursor.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { purgeDeleted } from './purges.ts';
import { addPurgeRoutes } from './routes.ts';

type Parts = {
  db: Db;
  log: Logger;
  cursors: ListCursors;
  storage: Storage;
  everyFeature: EveryFeature;
};

export const purges = defineFeature({
  name: 'purges',
  build({ db, log, cursors, storage, everyFeature }: Parts) {
    const parts = { db, storage, steps: [everyFeature.purgeItems], log };
    return {
      routes: (app) => addPurgeRoutes(app, { db, cursors }),
      chores: [
        {
          name: 'purge deleted items',
          intervalMs: 10_000,
          run: (signal) => purgeDeleted(parts, signal),
        },
      ],
    };
  },
});
