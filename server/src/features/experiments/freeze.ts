/**
 * Freezes an experiment that ends: its results immediately, and the daily values of each metric in
 * a job, because these can take long with many participants.
 */
import { Type } from 'typebox';
import type { Db, Tx } from '../../platform/database/database.ts';
import { defineJob, doublingDelay } from '../../platform/queue/job-definition.ts';
import { done, handle, skipped, type HandledJob } from '../../platform/queue/job-handler.ts';
import { enqueue } from '../../platform/queue/queue.ts';
import type { OrganizationId } from '../../platform/values/ids.ts';
import { openMeasure } from './breakdown.ts';
import type { ExperimentId, ExperimentRow } from './experiment.ts';
import { metricsNamed } from './own-metrics.ts';
import { saveTimelines } from './guardrail-queries.ts';
import { findExperiment } from './queries.ts';
import type { Results } from './present-results.ts';
import { freezeResults } from './results.ts';
import { readTimeline, type Timeline } from './timeline.ts';

const freezeTimelinesJob = defineJob({
  name: 'freeze-timelines',
  payload: Type.Object({ experimentId: Type.String() }),
  timeoutMs: 3_600_000,
  retry: { maxAttempts: 10, delayMs: doublingDelay(1_000, 10 * 60_000) },
  concurrency: 1,
});

export async function freeze(tx: Tx, row: ExperimentRow, endedAt: Date): Promise<Results> {
  const { organization_id: organizationId, experiment_id: experimentId } = row;
  await enqueue(tx, freezeTimelinesJob, { experimentId }, { organizationId });
  return freezeResults(tx, row, endedAt);
}

export function freezeTimelinesHandler(db: Db): HandledJob {
  return handle(freezeTimelinesJob, async ({ experimentId }, context) => {
    const { organizationId, signal } = context;
    const row = await findExperiment(
      db,
      organizationId as OrganizationId,
      experimentId as ExperimentId,
    );
    if (row === null || row.ended_at === null) return skipped('the experiment no longer exists');
    const timelines: Timeline[] = [];
    for (const metric of metricsNamed(row)) {
      signal.throwIfAborted();
      const measure = await openMeasure(db, row, row.ended_at, metric);
      timelines.push(await readTimeline(db, measure));
    }
    await context.finish((tx) => saveTimelines(tx, row.number, timelines));
    return done;
  });
}
