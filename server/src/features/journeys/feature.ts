import type { HeavyReads } from '../../platform/database/read-replica.ts';
import { defineFeature } from '../../platform/feature/feature.ts';
import type { VariantsOf } from '../analytics/analytics.ts';
import type { EngagementLog } from '../events/events.ts';
import { journeyEvents } from './projection.ts';
import { addJourneyRoutes } from './routes.ts';

type Parts = {
  heavyReads: HeavyReads;
  eventLog: EngagementLog;
  sessionTimeoutMs: number;
  variantsOf: VariantsOf;
};

export const journeys = defineFeature({
  name: 'journeys',
  tables: ['journey_chunk'],
  projections: () => [journeyEvents],
  build: (parts: Parts) => ({
    routes: (app) => addJourneyRoutes(app, parts),
  }),
});
