import { duration } from '../../platform/settings/config-values.ts';
import type { Db } from '../../platform/database/database.ts';
import { extend } from '../../platform/feature/extension-point.ts';
import { defineFeature } from '../../platform/feature/feature.ts';
import type { ListCursors } from '../../platform/http/list-cursor.ts';
import { setting } from '../../platform/settings/settings.ts';
import { hourMs } from '../../platform/values/time.ts';
import { portalAuditors, webhookEvents } from '../webhooks/webhooks.ts';
import { pruneAudit, recordAudit } from './audit.ts';
import { forgetViewerInAudit } from './forget-viewer.ts';
import { addAuditRoutes } from './routes.ts';
import { auditEvents } from './webhook-events.ts';

type Parts = { db: Db; cursors: ListCursors };

export const audit = defineFeature({
  name: 'audit',
  apiTags: {
    Audit: 'Who changed what and when, with which key or as which person.',
  },
  areas: { audit: 'audit' },
  settings: {
    auditRetentionMs: setting({
      env: 'REELFEED_AUDIT_RETENTION',
      parse: duration({ min: '1d' }),
      fallback: '365d',
      about: 'How long audit log entries are kept.',
    }),
  },
  tables: ['audit_entry'],
  extensions: [
    extend(webhookEvents, auditEvents),
    extend(portalAuditors, (tx, { customer, ...entry }) =>
      recordAudit(tx, { ...entry, actor: { type: 'service' }, changes: { customer } }),
    ),
  ],
  build({ db, cursors }: Parts, { auditRetentionMs }) {
    return {
      routes: (app) => addAuditRoutes(app, { db, cursors }),
      eraseViewer: (viewer) => forgetViewerInAudit(db, viewer),
      chores: [
        {
          name: 'prune audit log',
          intervalMs: hourMs,
          run: (signal) => pruneAudit(db, auditRetentionMs, signal),
        },
      ],
    };
  },
});
