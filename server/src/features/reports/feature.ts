import type { Logger } from 'pino';
import type { Db } from '../../platform/database/database.ts';
import { extend } from '../../platform/feature/extension-point.ts';
import { defineFeature } from '../../platform/feature/feature.ts';
import type { Hints } from '../../platform/hints/hints.ts';
import type { ListCursors } from '../../platform/http/list-cursor.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import type { Signer } from '../../platform/secrets/signing-keys.ts';
import { hourMs } from '../../platform/values/time.ts';
import { readAsOf, type RunReport } from '../analytics/analytics.ts';
import type { EngagementLog } from '../events/events.ts';
import { webhookEvents, type SendMail } from '../webhooks/webhooks.ts';
import { mailHandler, makeHandler } from './jobs.ts';
import { deleteExpiredReportLinks } from './links/link-queries.ts';
import { addReportLinkRoutes } from './links/link-routes.ts';
import { createLinkUrls } from './links/link-urls.ts';
import { deleteOldRuns } from './queries.ts';
import { addReportRoutes } from './routes.ts';
import { addRunRoutes } from './run-routes.ts';
import { makeReportJob, startDueRuns } from './runs.ts';
import { reportEvents } from './webhook-events.ts';

type Parts = {
  db: Db;
  log: Logger;
  cursors: ListCursors;
  mutations: Mutations;
  hints: Hints;
  eventLog: EngagementLog;
  publicUrl: string;
  signer: Signer;
  runReport: RunReport;
  sendMail: SendMail | null;
};

const runsKeptDays = 90;

export const reports = defineFeature({
  name: 'reports',
  apiTags: {
    Reports: 'Saved reports, scheduled and shared by link.',
  },
  tables: ['saved_report', 'report_run', 'report_link'],
  extensions: [extend(webhookEvents, reportEvents)],
  build(parts: Parts) {
    const { db, hints, publicUrl, signer, sendMail } = parts;
    const onQueued = () => hints.give(makeReportJob.name);
    return {
      routes(app) {
        addReportRoutes(app, { ...parts, hasMail: sendMail !== null });
        addRunRoutes(app, { ...parts, onQueued });
        addReportLinkRoutes(app, { ...parts, urls: createLinkUrls(publicUrl, signer) });
      },
      jobs: [makeHandler(parts), mailHandler(parts)],
      chores: [
        {
          name: 'start due reports',
          intervalMs: 15_000,
          async run(signal) {
            const countedUntil = new Date(await readAsOf(parts));
            if ((await startDueRuns(db, countedUntil, signal)) > 0) onQueued();
          },
        },
        {
          name: 'expire reports',
          intervalMs: hourMs,
          async run() {
            await deleteOldRuns(db, runsKeptDays);
            await deleteExpiredReportLinks(db);
          },
        },
      ],
    };
  },
});
