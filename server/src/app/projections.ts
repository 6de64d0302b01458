/** Runs the projections of all features. */
import {
  withoutUncounted,
  type EngagementLog,
  type EventProjection,
} from '../features/events/events.ts';
import type { Contribution } from '../platform/feature/feature.ts';
import { holdOpen } from '../platform/async/lifecycle.ts';
import { observeProjections } from '../platform/projections/projection-metrics.ts';
import { startProjector } from '../platform/projections/projector.ts';
import { expireProjections } from '../platform/projections/upkeep.ts';
import { projectionsOf } from './composition.ts';
import type { Config } from './config.ts';
import { features } from './features.ts';
import type { PlatformParts } from './platform-parts.ts';

/** The projections of all features. `reelfeed rebuild` can rebuild each of them. */
export function allProjections(config: Config): readonly EventProjection[] {
  const all: readonly EventProjection[] = projectionsOf(features.list, config);
  const countsBots = config.botEvents === 'count';
  return all.map((projection) => withoutUncounted(projection, { countsBots }));
}

type Parts = Pick<PlatformParts, 'db' | 'log' | 'metrics' | 'hints'> & { eventLog: EngagementLog };

/** Follows the event log and deletes expired rows. */
export function projectionWork(config: Config, parts: Parts): Contribution {
  const { db, log, metrics, hints, eventLog } = parts;
  const projections = allProjections(config);
  const start = () =>
    startProjector({
      db,
      log,
      eventLog,
      projections,
      hints,
      onPass: observeProjections(metrics, { db, eventLog }),
    });
  return {
    services: [{ name: 'projections', run: (signal) => holdOpen(start, signal) }],
    chores: [
      {
        name: 'expire projections',
        intervalMs: 60_000,
        run: (signal) => expireProjections(db, projections, signal),
      },
    ],
  };
}
