/**
 * Computes new metrics from events already in the log.
 *
 * 1. A pass of the projection that begins after a metric was committed counts it. The job waits for
 *    the previous pass by taking its lock, and then reads everything up to the end of the log.
 *    Events that both count are counted once; see `insertEvents`.
 * 2. Each page is read and written under the lock of the projection. An erasure first rewrites the
 *    log and then removes rows under the same lock, so no page brings an erased viewer back.
 */
import { Type } from 'typebox';
import { inTransaction, type Db } from '../../platform/database/database.ts';
import type { LogPosition } from '../../platform/event-log/event-log.ts';
import { lockProjections } from '../../platform/projections/queries.ts';
import { defineJob, doublingDelay } from '../../platform/queue/job-definition.ts';
import { done, handle, type HandledJob } from '../../platform/queue/job-handler.ts';
import type { EngagementLog } from '../events/events.ts';
import { ViewerSecrets } from '../organizations/organizations.ts';
import { countMetricEvents } from './counting.ts';
import { insertEvents, markComputed, selectMetrics } from './queries.ts';

export const computeMetricsJob = defineJob({
  name: 'compute-metrics',
  payload: Type.Object({}),
  timeoutMs: 6 * 3_600_000,
  retry: { maxAttempts: 20, delayMs: doublingDelay(1_000, 10 * 60_000) },
  concurrency: 1,
});

const followed = 'metrics';
const pageLimits = { limitBlocks: 100, limitEvents: 10_000 };

type Parts = {
  readonly db: Db;
  readonly eventLog: EngagementLog;
  readonly countsBots: boolean;
};

export function computeHandler(parts: Parts): HandledJob {
  return handle(computeMetricsJob, async (_, context) => {
    const { organizationId, signal } = context;
    const metrics = await selectMetrics(parts.db, organizationId);
    const waiting = metrics.filter(({ computedAt }) => computedAt === null);
    if (waiting.length > 0) await computeMetrics(parts, organizationId, signal);
    await context.finish((tx) =>
      markComputed(
        tx,
        waiting.map(({ number }) => number),
      ),
    );
    return done;
  });
}

async function computeMetrics(
  { db, eventLog, countsBots }: Parts,
  organizationId: string,
  signal: AbortSignal,
): Promise<void> {
  await inTransaction(db, (tx) => lockProjections(tx, [{ name: followed }]));
  const until = await eventLog.end();
  const secrets = new ViewerSecrets();
  for (let from: LogPosition = eventLog.start; ;) {
    signal.throwIfAborted();
    const at = from;
    const { next, isLast } = await inTransaction(db, async (tx) => {
      await lockProjections(tx, [{ name: followed }]);
      const page = await eventLog.read(at, { ...pageLimits, organizationId, until });
      const blocks = page.blocks.map(({ events }) => ({
        organizationId,
        events: countsBots ? events : events.filter(({ bot }) => bot !== true),
      }));
      await insertEvents(tx, await countMetricEvents(tx, secrets, blocks));
      return page;
    });
    if (isLast) return;
    from = next;
  }
}
