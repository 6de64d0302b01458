import type { Db } from '../../platform/database/database.ts';
import { defineFeature } from '../../platform/feature/feature.ts';
import type { Hints } from '../../platform/hints/hints.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import type { Signer } from '../../platform/secrets/signing-keys.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { contentChanged } from '../content/content.ts';
import { playbackErrors } from './errors.ts';
import { FileHandlers } from './file-handlers.ts';
import { createFileRules, createMediaAccess } from './playback.ts';
import { addPlaybackRoutes } from './routes.ts';

type Parts = {
  db: Db;
  mutations: Mutations;
  storage: Storage;
  signer: Signer;
  hints: Hints;
  publicUrl: string;
};

export const playback = defineFeature({
  name: 'playback',
  apiTags: {
    Playback: 'Access to protected and private media.',
  },
  errors: playbackErrors,
  build({ db, mutations, storage, signer, hints, publicUrl }: Parts) {
    const mediaAccess = createMediaAccess(publicUrl, signer);
    const fileHandlers = new FileHandlers();
    return {
      provides: { mediaAccess, fileHandlers },
      routes: (app) => {
        const fileRules = createFileRules(db);
        hints.listen(contentChanged, () => fileRules.forget());
        const access = mediaAccess;
        addPlaybackRoutes(app, { db, storage, mutations, access, fileRules, fileHandlers });
      },
    };
  },
});
