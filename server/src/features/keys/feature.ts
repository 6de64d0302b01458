import { duration, integer, optional } from '../../platform/config-values.ts';
import { roles } from '../../platform/config.ts';
import type { Logger } from 'pino';
import type { Db } from '../../platform/database/database.ts';
import { defineFeature } from '../../platform/feature.ts';
import type { Hints } from '../../platform/hints.ts';
import type { ListCursors } from '../../platform/http/list-cursor.ts';
import type { RequestObserver } from '../../platform/http/request-log.ts';
import { scopeOf } from './scopes.ts';
import { setting } from '../../platform/settings.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import { hourMs } from '../../platform/time.ts';
import { createAuthenticator, organizationChanged, type OrganizationOrigins } from './keys.ts';
import { RequestLog, writeEveryMs } from './request-log.ts';
import { addKeyRoutes } from './routes.ts';

type Parts = {
  db: Db;
  log: Logger;
  cursors: ListCursors;
  mutations: Mutations;
  hints: Hints;
  organizationOrigins: OrganizationOrigins;
};

export const keys = defineFeature({
  name: 'keys',
  apiTags: {
    Keys: 'Secret and publishable keys: scopes, rotation, rate limits, requests.',
  },
  settings: {
    publishableKeyRateLimit: setting({
      env: 'REELFEED_PUBLISHABLE_KEY_RATE_LIMIT',
      parse: optional(integer({ min: 1, max: 10_000_000 })),
      fallback: '',
      about:
        'Requests that a publishable key may make in any 60 seconds, on all processes together, unless the key has a limit of its own. Empty: no limit.',
    }),
    requestLogMs: setting({
      env: 'REELFEED_REQUEST_LOG_RETENTION',
      parse: duration({ max: '90d' }),
      fallback: '3d',
      about: 'How long the latest requests of each key are kept; 0s keeps none.',
    }),
  },
  tables: ['api_key', 'key_allowance', 'key_request'],
  build(
    { db, log, cursors, mutations, hints, organizationOrigins }: Parts,
    { publishableKeyRateLimit, requestLogMs },
  ) {
    const authenticator = createAuthenticator(db, organizationOrigins, publishableKeyRateLimit);
    hints.listen(organizationChanged, () => authenticator.forget());
    const requestLog = new RequestLog(db, log);
    const observeRequest: RequestObserver =
      requestLogMs === 0 ? () => undefined : (observation) => requestLog.observe(observation);
    return {
      provides: { authenticator, observeRequest, scopeOf },
      routes: (app) => addKeyRoutes(app, { db, cursors, mutations, authenticator }),
      chores: [
        {
          name: 'record key use',
          intervalMs: 10_000,
          isLocal: true,
          roles,
          run: () => authenticator.recordUse(),
        },
        {
          name: 'write request log',
          intervalMs: writeEveryMs,
          isLocal: true,
          roles: ['api'],
          run: () => requestLog.write(),
        },
        {
          name: 'prune request log',
          intervalMs: hourMs / 6,
          run: () => requestLog.prune(requestLogMs),
        },
      ],
      // The last requests of a process that ends.
      resources: [{ [Symbol.asyncDispose]: () => requestLog.write() }],
    };
  },
});
