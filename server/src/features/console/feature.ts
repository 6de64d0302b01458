import type { Db } from '../../platform/database/database.ts';
import { defineFeature } from '../../platform/feature/feature.ts';
import { hourMs } from '../../platform/values/time.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import type { OrganizationId } from '../../platform/values/ids.ts';
import type { Authenticator } from '../keys/keys.ts';
import type { PersonSessions } from '../people/people.ts';
import { createConsoleSessions } from './console.ts';
import { addConsoleRoutes } from './routes.ts';

type Parts = {
  db: Db;
  vault: Vault;
  authenticator: Authenticator;
  personSessions: PersonSessions;
  isKeySignInOpen: (organizationId: OrganizationId) => Promise<boolean>;
  publicUrl: string;
};

export const consoleFeature = defineFeature({
  name: 'console',
  tables: ['console_session'],
  build({ db, vault, authenticator, ...parts }: Parts) {
    const consoleSessions = createConsoleSessions(db, vault);
    const { authenticate } = authenticator;
    return {
      provides: { consoleSessions },
      routes: (app) => addConsoleRoutes(app, { sessions: consoleSessions, authenticate, ...parts }),
      chores: [
        {
          name: 'delete expired console sessions',
          intervalMs: hourMs,
          run: (signal) => consoleSessions.prune(signal),
        },
      ],
    };
  },
});
