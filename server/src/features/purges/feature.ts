import type { Logger } from 'pino';
import type { Db } from '../../platform/database/database.ts';
import {
  defineFeature,
  type EveryFeature,
  type PurgeItems,
} from '../../platform/feature/feature.ts';
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

/** After a run, pauses for this multiple of its duration, because a run reads a lot. */
const pauseFactor = 9;
const maxPauseMs = 3_600_000;
/**
 * Longer than a process may accept events of a deleted item (three seconds), and than an accepted
 * event takes to reach the log.
 */
const minAgeMs = 15_000;

export const purges = defineFeature({
  name: 'purges',
  apiTags: {
    Purges: 'Permanently deleted items.',
  },
  areas: { purges: 'content' },
  build({ db, log, cursors, storage, everyFeature, eventLog }: Parts) {
    const { fileWriters: writers } = everyFeature;
    const steps = [purgeEvents(eventLog, everyFeature.purgeItems)];
    const parts = { db, storage, writers, minAgeMs, steps, log };
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

/**
 * Removes items from the log, then from derived data, then from events that arrived in the
 * meantime.
 */
export function purgeEvents(eventLog: EngagementLog, purgeItems: PurgeItems): PurgeItems {
  return async (items, signal) => {
    const end = await forgetItemsInLog(eventLog, items, eventLog.start, signal);
    await purgeItems(items, signal);
    await forgetItemsInLog(eventLog, items, end, signal);
  };
}
