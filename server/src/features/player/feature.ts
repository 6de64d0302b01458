import { defineFeature } from '../../platform/feature/feature.ts';
import { registerPlayerRoutes } from './routes.ts';

type Parts = {
  publicUrl: string;
  /** Given to everyone who opens the feed page, for demonstrations; may be null. */
  playerKey: string | null;
};

export const player = defineFeature({
  name: 'player',
  build({ publicUrl, playerKey }: Parts) {
    return {
      routes: (app) =>
        registerPlayerRoutes(app, {
          mediaOrigins: [new URL(publicUrl).origin],
          ...(playerKey !== null && { defaultPublishableKey: playerKey }),
        }),
    };
  },
});
