import type { Logger } from 'pino';
import type { Db } from '../../platform/database/database.ts';
import { defineFeature, type EveryFeature, type PurgeItems } from '../../platform/feature.ts';
import type { ListCursors } from '../../platform/http/list-cursor.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { forgetItemsInLog, type EngagementLog } from '../events/events.ts';
import { purgeDeleted } from './purges.ts';
import { addPurgeRoutes } from './routes.ts';

type Parts = {
  db: Db;
  log: Logger;
  cursors: ListCursors;
  storage: Storage;
  everyFeature: EveryFeature;
  eventLog: EngagementLog;
};

/**
 * A run is followed by a pause of this many times its duration, because it reads a lot when much is
 * stored.
 */
const pauseFactor = 9;
const maxPauseMs = 3_600_000;

export const purges = defineFeature({
  name: 'purges',
  apiTags: {
    Purges: 'What was deleted for good.',
  },
  build({ db, log, cursors, storage, everyFeature, eventLog }: Parts) {
    const forgetEvents: PurgeItems = (items, signal) => forgetItemsInLog(eventLog, items, signal);
    const parts = { db, storage, steps: [forgetEvents, everyFeature.purgeItems], log };
    let notBefore = 0;
    return {
      routes: (app) => addPurgeRoutes(app, { db, cursors }),
      chores: [
        {
          name: 'purge deleted items',
          intervalMs: 10_000,
          async run(signal) {
            const startedAt = performance.now();
            if (startedAt < notBefore) return;
            await purgeDeleted(parts, signal);
            const tookMs = performance.now() - startedAt;
            notBefore = performance.now() + Math.min(tookMs * pauseFactor, maxPauseMs);
          },
        },
      ],
    };
  },
});
