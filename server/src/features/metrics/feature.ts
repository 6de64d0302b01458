import type { Db } from '../../platform/database/database.ts';
import { extend, type ExtensionsOf } from '../../platform/feature/extension-point.ts';
import { defineFeature } from '../../platform/feature/feature.ts';
import type { Hints } from '../../platform/hints/hints.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import { declaredKinds, isCustomKind, type EngagementLog } from '../events/events.ts';
import { computeHandler, computeMetricsJob } from './compute-job.ts';
import { kindsOf } from './definition.ts';
import { metricErrors } from './errors.ts';
import { metricUses } from './metrics.ts';
import { metricEvents } from './projection.ts';
import { selectMetrics } from './queries.ts';
import { addMetricRoutes } from './routes.ts';

type Parts = {
  db: Db;
  mutations: Mutations;
  hints: Hints;
  eventLog: EngagementLog;
  countsBots: boolean;
  extensionsOf: ExtensionsOf;
};

export const metrics = defineFeature({
  name: 'metrics',
  apiTags: {
    Metrics: 'Metrics that you define over events of any kind.',
  },
  areas: { metrics: 'experiments' },
  errors: metricErrors,
  tables: ['metric', 'metric_event', 'viewer_version'],
  extensions: [
    extend(declaredKinds, async (db, organizationId) =>
      (await selectMetrics(db, organizationId))
        .flatMap(({ definition }) => kindsOf(definition))
        .filter(isCustomKind),
    ),
  ],
  projections: () => [metricEvents],
  build({ db, mutations, hints, eventLog, countsBots, extensionsOf }: Parts) {
    return {
      routes: (app) =>
        addMetricRoutes(app, {
          db,
          mutations,
          uses: extensionsOf(metricUses),
          onQueued: () => hints.give(computeMetricsJob.name),
        }),
      jobs: [computeHandler({ db, eventLog, countsBots })],
    };
  },
});
