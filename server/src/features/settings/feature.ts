import type { Db } from '../../platform/database/database.ts';
import { defineFeature } from '../../platform/feature.ts';
import type { Hints } from '../../platform/hints.ts';
import type { ListCursors } from '../../platform/http/list-cursor.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import { addSettingRoutes } from './routes.ts';
import { configurationChanged } from './settings.ts';

type Parts = { db: Db; cursors: ListCursors; mutations: Mutations; hints: Hints };

export const settings = defineFeature({
  name: 'settings',
  apiTags: {
    Configuration: 'Settings and flags, and what clients get of them.',
  },
  areas: { settings: 'settings', flags: 'settings' },
  tables: ['configuration_version', 'setting'],
  build({ db, cursors, mutations, hints }: Parts) {
    const onChange = () => hints.give(configurationChanged);
    return { routes: (app) => addSettingRoutes(app, { db, cursors, mutations, onChange }) };
  },
});
