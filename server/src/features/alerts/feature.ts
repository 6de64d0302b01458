import type { Logger } from 'pino';
import type { Db } from '../../platform/database/database.ts';
import { extend } from '../../platform/feature/extension-point.ts';
import { defineFeature } from '../../platform/feature/feature.ts';
import type { Hints } from '../../platform/hints/hints.ts';
import type { ListCursors } from '../../platform/http/list-cursor.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import { hourMs } from '../../platform/values/time.ts';
import type { EngagementLog } from '../events/events.ts';
import { webhookDeliveries, webhookEvents } from '../webhooks/webhooks.ts';
import { evaluateAlerts } from './evaluate.ts';
import { deleteOldAlertEvents } from './queries.ts';
import { addAlertRoutes } from './routes.ts';
import { alertEvents } from './webhook-events.ts';

type Parts = {
  db: Db;
  log: Logger;
  cursors: ListCursors;
  mutations: Mutations;
  hints: Hints;
  eventLog: EngagementLog;
  publicUrl: string;
};

const eventsKeptDays = 90;

export const alerts = defineFeature({
  name: 'alerts',
  apiTags: {
    Alerts: 'Rules that watch metrics and report unusual values.',
  },
  tables: ['alert', 'alert_event'],
  extensions: [extend(webhookEvents, alertEvents)],
  build(parts: Parts) {
    const { db, hints } = parts;
    return {
      routes: (app) =>
        addAlertRoutes(app, { ...parts, onTold: () => hints.give(webhookDeliveries) }),
      chores: [
        {
          name: 'judge alerts',
          intervalMs: 15_000,
          run: (signal) => evaluateAlerts(parts, signal),
        },
        {
          name: 'expire alert events',
          intervalMs: hourMs,
          run: () => deleteOldAlertEvents(db, eventsKeptDays),
        },
      ],
    };
  },
});
