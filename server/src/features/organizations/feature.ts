import { optional, text } from '../../platform/settings/config-values.ts';
import type { Db } from '../../platform/database/database.ts';
import { extend } from '../../platform/feature/extension-point.ts';
import { defineFeature } from '../../platform/feature/feature.ts';
import type { Hints } from '../../platform/hints/hints.ts';
import { auditedResources } from '../../platform/http/audited-resource.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import { setting } from '../../platform/settings/settings.ts';
import {
  ensureFirstOrganization,
  findOrganization,
  organizationRows,
  presentOrganization,
  type KeyPair,
} from './organizations.ts';
import { addOrganizationRoutes } from './routes.ts';

type Parts = {
  db: Db;
  mutations: Mutations;
  hints: Hints;
  /** Receives the keys created by this start, since they can't be retrieved later. */
  onFreshKeys: (keys: KeyPair) => void;
};

export const organizations = defineFeature({
  name: 'organizations',
  apiTags: {
    Organization: 'The organization that a key belongs to.',
  },
  areas: { organization: 'organization' },
  settings: {
    secretKey: setting({
      env: 'REELFEED_SECRET_KEY',
      parse: optional(text()),
      fallback: '',
      about: 'Secret key of the first organization. Empty: one is generated.',
      secret: true,
    }),
    publishableKey: setting({
      env: 'REELFEED_PUBLISHABLE_KEY',
      parse: optional(text()),
      fallback: '',
      about: 'Publishable key of the first organization. Empty: one is generated.',
      secret: true,
    }),
  },
  tables: ['organization'],
  extensions: [
    extend(auditedResources, {
      path: '/v1/organization',
      async read(tx, organizationId) {
        const row = await findOrganization(tx, organizationId);
        return row && presentOrganization(row);
      },
    }),
  ],
  async build({ db, mutations, hints, onFreshKeys }: Parts, configured) {
    onFreshKeys(await ensureFirstOrganization(db, configured));
    return {
      provides: { organizationOrigins: organizationRows },
      routes: (app) => addOrganizationRoutes(app, { db, mutations, hints }),
    };
  },
});
