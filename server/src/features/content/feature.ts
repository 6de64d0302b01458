import { duration } from '../../platform/settings/config-values.ts';
import type { Db } from '../../platform/database/database.ts';
import { defineFeature } from '../../platform/feature/feature.ts';
import type { Hints } from '../../platform/hints/hints.ts';
import type { ListCursors } from '../../platform/http/list-cursor.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import { setting } from '../../platform/settings/settings.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { hourMs } from '../../platform/values/time.ts';
import { contentChanged, contentErrors, type MediaUrls } from './content.ts';
import { makeCover } from './item-media/cover.ts';
import { cleanUpArchived } from './maintenance.ts';
import { addContentRoutes } from './routes.ts';

type Parts = {
  db: Db;
  cursors: ListCursors;
  mutations: Mutations;
  storage: Storage;
  mediaAccess: MediaUrls;
  hints: Hints;
};

export const content = defineFeature({
  name: 'content',
  apiTags: {
    Content: 'Items in the library: upload, metadata, publication, archive.',
  },
  areas: { content: 'content' },
  settings: {
    archiveRetentionMs: setting({
      env: 'REELFEED_ARCHIVE_RETENTION',
      parse: duration({ min: '1d' }),
      fallback: '30d',
      about: 'How long an archived item can be restored before its media files are removed.',
    }),
  },
  errors: contentErrors,
  tables: ['content', 'carousel_entry', 'deleted_content'],
  build({ db, cursors, mutations, storage, mediaAccess, hints }: Parts, { archiveRetentionMs }) {
    return {
      routes: (app) =>
        addContentRoutes(app, {
          db,
          cursors,
          mutations,
          urls: mediaAccess,
          archiveRetentionMs,
          onChange: () => hints.give(contentChanged),
          onCover: () => hints.give(makeCover.name),
        }),
      chores: [
        {
          name: 'clean up archived',
          intervalMs: hourMs,
          run: (signal) => cleanUpArchived(db, storage, archiveRetentionMs, signal),
        },
      ],
    };
  },
});
