import type { Db } from '../../platform/database/database.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import { extend } from '../../platform/feature/extension-point.ts';
import { defineFeature } from '../../platform/feature/feature.ts';
import type { Hints } from '../../platform/hints/hints.ts';
import type { ListCursors } from '../../platform/http/list-cursor.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import type { Signer } from '../../platform/secrets/signing-keys.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import type { EngagementLog } from '../events/events.ts';
import { createDownloadUrls } from './download-urls.ts';
import { addDestinationRoutes } from './destinations/destination-routes.ts';
import { pushDestinationJob, pushHandler, queuePushes } from './destinations/destinations.ts';
import { exportHandler } from './export-job.ts';
import { runExportJob } from './exports.ts';
import { eraseFromExports, expireOldExports } from './maintenance.ts';
import { addDownloadRoute } from './download-route.ts';
import { addExportRoutes } from './routes.ts';
import { addScheduleRoutes } from './schedules/schedule-routes.ts';
import { runSchedules } from './schedules/schedules.ts';
import { exportEvents } from './webhook-events.ts';
import { webhookEvents } from '../webhooks/webhooks.ts';

type Parts = {
  db: Db;
  storage: Storage;
  eventLog: EngagementLog;
  mutations: Mutations;
  cursors: ListCursors;
  signer: Signer;
  hints: Hints;
  publicUrl: string;
  egress: Egress;
  vault: Vault;
};

export const exports = defineFeature({
  name: 'exports',
  apiTags: {
    Exports: 'Exports of events, viewers, items, metrics and more as files.',
  },
  areas: { exports: 'analytics' },
  tables: [
    'data_export',
    'data_export_part',
    'export_schedule',
    'export_destination',
    'export_destination_file',
  ],
  extensions: [extend(webhookEvents, exportEvents)],
  build(parts: Parts) {
    const { db, storage, eventLog, mutations, cursors, signer, hints, publicUrl } = parts;
    const urls = createDownloadUrls(publicUrl, signer);
    const onQueued = () => hints.give(runExportJob.name);
    const push = () => queuePushes(db, () => hints.give(pushDestinationJob.name));
    return {
      routes(app) {
        addExportRoutes(app, { db, cursors, mutations, urls, onQueued });
        addScheduleRoutes(app, { db, mutations });
        addDestinationRoutes(app, parts);
        addDownloadRoute(app, { db, storage, urls });
      },
      jobs: [exportHandler({ db, storage, eventLog, urls }), pushHandler(parts)],
      chores: [
        {
          name: 'expire exports',
          intervalMs: 60_000,
          run: (signal) => expireOldExports(db, storage, signal),
        },
        { name: 'push to destinations', intervalMs: 15_000, run: push },
        {
          name: 'scheduled exports',
          intervalMs: 30_000,
          run: (signal) => runSchedules(db, onQueued, signal),
        },
      ],
      eraseViewer: (viewer) => eraseFromExports(db, storage, viewer),
    };
  },
});
