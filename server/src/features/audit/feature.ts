import { duration } from '../../platform/config-values.ts';
import type { Db } from '../../platform/database/database.ts';
import { defineFeature } from '../../platform/feature.ts';
import type { ListCursors } from '../../platform/http/list-cursor.ts';
import { setting } from '../../platform/settings.ts';
import { hourMs } from '../../platform/time.ts';
import { pruneAudit } from './audit.ts';
import { forgetViewerInAudit } from './forget-viewer.ts';
import { addAuditRoutes } from './routes.ts';

type Parts = { db: Db; cursors: ListCursors };

export const audit = defineFeature({
  name: 'audit',
  apiTags: {
    Audit: 'Who changed what, when, with which key or as which person.',
  },
  areas: { audit: 'audit' },
  settings: {
    auditRetentionMs: setting({
      env: 'REELFEED_AUDIT_RETENTION',
      parse: duration({ min: '1d' }),
      fallback: '365d',
      about: 'How long the audit log keeps who changed what.',
    }),
  },
  tables: ['audit_entry'],
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
