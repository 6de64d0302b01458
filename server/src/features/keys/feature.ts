import { integer, optional } from '../../platform/config-values.ts';
import { roles } from '../../platform/config.ts';
import type { Db } from '../../platform/database/database.ts';
import { defineFeature } from '../../platform/feature.ts';
import type { ListCursors } from '../../platform/http/list-cursor.ts';
import { setting } from '../../platform/settings.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import { createAuthenticator } from './keys.ts';
import { addKeyRoutes } from './routes.ts';

type Parts = { db: Db; cursors: ListCursors; mutations: Mutations };

export const keys = defineFeature({
  name: 'keys',
  settings: {
    publishableKeyRateLimit: setting({
      env: 'REELFEED_PUBLISHABLE_KEY_RATE_LIMIT',
      parse: optional(integer({ min: 1, max: 10_000_000 })),
      fallback: '',
      about:
        'Requests that a publishable key may make in any 60 seconds, on all processes together, unless the key has a limit of its own. Empty: no limit.',
    }),
  },
  tables: ['api_key', 'key_allowance'],
  build({ db, cursors, mutations }: Parts, { publishableKeyRateLimit }) {
    const authenticator = createAuthenticator(db, publishableKeyRateLimit);
    return {
      provides: { authenticator },
      routes: (app) => addKeyRoutes(app, { db, cursors, mutations, authenticator }),
      chores: [
        {
          name: 'record key use',
          intervalMs: 10_000,
          roles,
          run: () => authenticator.recordUse(),
        },
      ],
    };
  },
});
