import { duration, integer, optional } from '../../platform/settings/config-values.ts';
import type { Logger } from 'pino';
import type { Db } from '../../platform/database/database.ts';
import { extend } from '../../platform/feature/extension-point.ts';
import { defineFeature, type EveryFeature } from '../../platform/feature/feature.ts';
import type { Hints } from '../../platform/hints/hints.ts';
import { auditedResources } from '../../platform/http/audited-resource.ts';
import type { ListCursors } from '../../platform/http/list-cursor.ts';
import type { RequestObserver } from '../../platform/http/request-log.ts';
import { createScopes } from './scopes.ts';
import { setting } from '../../platform/settings/settings.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import { hourMs } from '../../platform/values/time.ts';
import {
  auditedKey,
  createAuthenticator,
  organizationChanged,
  type OrganizationOrigins,
} from './keys.ts';
import { RequestLog } from './request-log.ts';
import { addKeyRoutes } from './routes.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import { addViewerKeyRoutes } from './viewer-key-routes.ts';
import { SignatureCache, type SignatureReader } from './viewer-keys.ts';

type Parts = {
  db: Db;
  log: Logger;
  cursors: ListCursors;
  mutations: Mutations;
  hints: Hints;
  organizationOrigins: OrganizationOrigins;
  everyFeature: EveryFeature;
  vault: Vault;
};

export const keys = defineFeature({
  name: 'keys',
  apiTags: {
    Keys: 'Secret and publishable keys: scopes, rotation, rate limits, requests; and viewer keys, which sign user ids.',
  },
  areas: { keys: 'keys', 'viewer-keys': 'keys' },
  settings: {
    publishableKeyRateLimit: setting({
      env: 'REELFEED_PUBLISHABLE_KEY_RATE_LIMIT',
      parse: optional(integer({ min: 1, max: 10_000_000 })),
      fallback: '',
      about:
        'Requests that a publishable key may make in any 60 seconds across all processes, unless the key has its own limit. Empty: no limit.',
      reloads: true,
    }),
    requestLogMs: setting({
      env: 'REELFEED_REQUEST_LOG_RETENTION',
      parse: duration({ max: '90d' }),
      fallback: '3d',
      about: 'How long the request log of each key is kept. 0s: requests are not logged.',
    }),
  },
  tables: ['api_key', 'key_allowance', 'key_request', 'viewer_signing_key'],
  extensions: [extend(auditedResources, { path: '/v1/keys/:id', read: auditedKey })],
  build(
    { db, log, cursors, mutations, hints, organizationOrigins, everyFeature, vault }: Parts,
    settings,
  ) {
    const { requestLogMs } = settings;
    const scopes = createScopes(everyFeature.areas);
    const authenticator = createAuthenticator(
      db,
      log,
      organizationOrigins,
      () => settings.publishableKeyRateLimit,
    );
    const signatures = new SignatureCache(db, vault, organizationOrigins);
    const viewerSignatures: SignatureReader = (organizationId) => signatures.of(organizationId);
    hints.listen(organizationChanged, () => {
      authenticator.forget();
      signatures.forget();
    });
    const requestLog = new RequestLog(db, log);
    const observeRequest: RequestObserver =
      requestLogMs === 0 ? () => undefined : (observation) => requestLog.observe(observation);
    return {
      provides: { authenticator, observeRequest, scopeOf: scopes.of, viewerSignatures },
      routes: (app) => {
        addKeyRoutes(app, { db, cursors, mutations, authenticator, scopes });
        addViewerKeyRoutes(app, { db, mutations, vault, signatures });
      },
      chores: [
        {
          name: 'prune request log',
          intervalMs: hourMs / 6,
          run: () => requestLog.prune(requestLogMs),
        },
      ],
      resources: [requestLog, authenticator],
    };
  },
});
