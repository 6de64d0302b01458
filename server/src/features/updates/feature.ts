import type { Logger } from 'pino';
import { Type } from 'typebox';
import type { Db } from '../../platform/database/database.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import { defineFeature } from '../../platform/feature/feature.ts';
import { answers, Envelope, Nullable } from '../../platform/http/schemas.ts';
import { setting } from '../../platform/settings/settings.ts';
import { hourMs } from '../../platform/values/time.ts';
import { findUpdate, lookForUpdate, updateUrl } from './updates.ts';

type Parts = { db: Db; egress: Egress; log: Logger };

const Update = Type.Object({
  version: Type.String(),
  notesUrl: Nullable(Type.String()),
  ownVersion: Type.String(),
});

export const updates = defineFeature({
  name: 'updates',
  settings: {
    updateUrl: setting({
      env: 'REELFEED_UPDATE_CHECK',
      parse: updateUrl(),
      fallback: 'off',
      about:
        'URL of a JSON file that names the newest version, `{ "version": "1.2.3", "notesUrl": "https://…" }`. The service fetches it once a day without sending any data about itself, and reports newer versions in the log, in the console and in `reelfeed doctor`. `off`: it never checks.',
    }),
  },
  tables: ['update_check'],
  build(parts: Parts, { updateUrl: url }) {
    return {
      routes: (app) => {
        // Requested only by the console's page.
        app.get(
          '/console/update',
          {
            config: { access: 'secret', scope: 'organization:read' },
            schema: { hide: true, response: answers({ 200: Envelope(Nullable(Update)) }) },
          },
          async () => ({ data: await findUpdate(parts.db, url) }),
        );
      },
      chores:
        url === null
          ? []
          : [
              {
                name: 'look for a newer version',
                intervalMs: hourMs,
                run: (signal) => lookForUpdate(parts, url, signal),
              },
            ],
    };
  },
});
