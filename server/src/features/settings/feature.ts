import type { Db } from '../../platform/database/database.ts';
import { extend } from '../../platform/feature/extension-point.ts';
import { defineFeature } from '../../platform/feature/feature.ts';
import type { Hints } from '../../platform/hints/hints.ts';
import { auditedResources } from '../../platform/http/audited-resource.ts';
import type { ListCursors } from '../../platform/http/list-cursor.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import { findValue } from './queries.ts';
import { addSettingRoutes } from './routes.ts';
import { configurationChanged, type SettingKind } from './settings.ts';

type Parts = { db: Db; cursors: ListCursors; mutations: Mutations; hints: Hints };

const audited = (kind: SettingKind, path: string) =>
  extend(auditedResources, {
    path,
    async read(tx, organizationId, key) {
      const row = await findValue(tx, organizationId, kind, key);
      return row && { value: row.value };
    },
  });

export const settings = defineFeature({
  name: 'settings',
  apiTags: {
    Configuration: 'Settings and flags, and the values that clients get.',
  },
  areas: { settings: 'settings', flags: 'settings' },
  tables: ['configuration_version', 'setting'],
  extensions: [audited('setting', '/v1/settings/:key'), audited('flag', '/v1/flags/:key')],
  build({ db, cursors, mutations, hints }: Parts) {
    const onChange = () => hints.give(configurationChanged);
    return { routes: (app) => addSettingRoutes(app, { db, cursors, mutations, onChange }) };
  },
});
