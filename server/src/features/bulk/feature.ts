import type { Db } from '../../platform/database/database.ts';
import { extend } from '../../platform/feature/extension-point.ts';
import { defineFeature } from '../../platform/feature/feature.ts';
import type { Hints } from '../../platform/hints/hints.ts';
import type { ListCursors } from '../../platform/http/list-cursor.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import { hourMs } from '../../platform/values/time.ts';
import { contentChanged } from '../content/content.ts';
import { webhookDeliveries, webhookEvents } from '../webhooks/webhooks.ts';
import { runBulkJob } from './bulk-job.ts';
import { addBulkJobRoutes } from './job-routes.ts';
import { bulkJobHandler, pruneBulkJobs } from './jobs.ts';
import { addBulkRoutes } from './routes.ts';
import { bulkJobEvents } from './webhook-events.ts';

type Parts = { db: Db; cursors: ListCursors; mutations: Mutations; hints: Hints };

export const bulk = defineFeature({
  name: 'bulk',
  apiTags: {
    'Bulk operations': 'Changes to up to 100 items in one request.',
    'Bulk jobs': 'Changes to any number of items, in the background.',
  },
  tables: ['bulk_job', 'bulk_job_chunk', 'bulk_job_failure', 'bulk_allowance'],
  extensions: [extend(webhookEvents, bulkJobEvents)],
  build({ db, cursors, mutations, hints }: Parts) {
    const onQueued = () => {
      hints.give(runBulkJob.name);
      // A job without items has already ended, with its event.
      hints.give(webhookDeliveries);
    };
    return {
      routes(app) {
        addBulkRoutes(app, { db, mutations, onChange: () => hints.give(contentChanged) });
        addBulkJobRoutes(app, { db, cursors, mutations, onQueued });
      },
      jobs: [bulkJobHandler({ db })],
      chores: [
        {
          name: 'prune bulk jobs',
          intervalMs: hourMs,
          run: (signal) => pruneBulkJobs(db, signal),
        },
      ],
    };
  },
});
