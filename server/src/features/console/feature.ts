import { defineFeature } from '../../platform/feature.ts';
import type { Vault } from '../../platform/vault.ts';
import type { Authenticator } from '../keys/keys.ts';
import { createConsoleSessions } from './console.ts';
import { addConsoleRoutes } from './routes.ts';

type Parts = { vault: Vault; authenticator: Authenticator; publicUrl: string };

export const consoleFeature = defineFeature({
  name: 'console',
  build({ vault, authenticator, publicUrl }: Parts) {
    const consoleSessions = createConsoleSessions(vault);
    const { authenticate } = authenticator;
    return {
      provides: { consoleSessions },
      routes: (app) =>
        addConsoleRoutes(app, { sessions: consoleSessions, authenticate, publicUrl }),
    };
  },
});
