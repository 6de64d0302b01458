/**
 * Runs the experiment of `simulation.ts` against the database, through everything except
 * HTTP.
 */
import { dayMs } from '../../src/platform/values/time.ts';
import type { Db } from '../../src/platform/database/database.ts';
import { inTransaction } from '../../src/platform/database/database.ts';
import { insertProjections, readProgress } from '../../src/platform/projections/queries.ts';
import { ProjectionRun } from '../../src/platform/projections/run.ts';
import { allProjections } from '../../src/app/projections.ts';
import { readConfig } from '../../src/app/config.ts';
import { insertItems, organizationId } from '../projections/projector.ts';
import { hashViewer } from '../../src/features/analytics/analytics.ts';
import { openEventLog, type EventProjection } from '../../src/features/events/events.ts';
import { ViewerSecrets } from '../../src/features/organizations/organizations.ts';
import { readArms } from '../../src/features/experiments/arms.ts';
import { insertExposures } from '../../src/features/experiments/assignments/exposure-queries.ts';
import { assign, buildView } from '../../src/features/experiments/assignments/view.ts';
import type { ExperimentId, ExperimentRow } from '../../src/features/experiments/experiment.ts';
import { findExperiment } from '../../src/features/experiments/queries.ts';
import type { Results } from '../../src/features/experiments/present-results.ts';
import { readResults } from '../../src/features/experiments/results.ts';
import { days, daysBefore, eventsOf, makeViewers } from './simulated-viewers.ts';
import type { Simulation } from './simulated-row.ts';
import { entryDays, stayOf } from './simulation.ts';
import type { ArmData } from '../../src/features/experiments/statistics/analysis.ts';
import { createRandom } from './random.ts';

/** Stores a row, letting the database assign its number. @returns the stored row */
export async function insertRow(db: Db, row: ExperimentRow): Promise<ExperimentRow> {
  const { number: _, ...values } = row;
  await db
    .insertInto('experiment')
    .values({
      ...values,
      variants: JSON.stringify(row.variants),
      metrics: [...row.metrics],
      guardrails: JSON.stringify(row.guardrails),
      harms: JSON.stringify(row.harms),
      targeting: JSON.stringify(row.targeting),
      ranges: JSON.stringify(row.ranges),
      plan: JSON.stringify(row.plan),
      tags: [...row.tags],
      forced_variants: JSON.stringify(row.forced_variants),
      results: null,
    })
    .execute();
  const id = row.experiment_id as ExperimentId;
  const stored = await findExperiment(db, organizationId, id);
  if (stored === null) throw new Error('The experiment is gone.');
  return stored;
}

export type DatabaseRead = { readonly arms: readonly ArmData[]; readonly results: Results };

/** Runs the experiment in a fresh database and reads its results every day. */
export async function simulateInDatabase(
  db: Db,
  wanted: ExperimentRow,
  options: Simulation,
  contentIds: readonly string[],
): Promise<DatabaseRead[]> {
  await insertItems(db, contentIds);
  const row = await insertRow(db, wanted);
  const view = buildView(1, [], [row]);
  const random = createRandom(options.seed);
  const viewers = makeViewers(options.viewers, random);
  const entersOn = entryDays(row, viewers, options);
  const project = await openProjection(db);
  const secrets = new ViewerSecrets();
  await secrets.load(db, [organizationId]);
  const startMs = row.started_at?.getTime() ?? 0;
  const reads: DatabaseRead[] = [];
  for (let day = -daysBefore; day < days; day += 1) {
    const fromMs = startMs + day * dayMs;
    const entering = viewers.filter((_, index) => entersOn[index] === day);
    await insertExposures(
      db,
      entering.flatMap(({ userId }) => {
        const unitKey = Buffer.from(hashViewer(secrets, organizationId, `u:${userId}`), 'latin1');
        return assign(view.running, userId, {}, fromMs).map(({ experiment, index }) => ({
          experimentNumber: experiment.number,
          unitKey,
          viewer: `u:${userId}`,
          variant: index,
          atMs: fromMs,
        }));
      }),
    );
    const events = viewers.flatMap((viewer, index) =>
      eventsOf(viewer, contentIds, fromMs, random, stayOf(options, entersOn[index] ?? 0)),
    );
    await openEventLog(db).append([{ organizationId, events }]);
    await project();
    if (day < 0) continue;
    const now = new Date(fromMs + dayMs);
    const { arms } = await readArms(db, row, now);
    const current = await findExperiment(db, organizationId, row.experiment_id as ExperimentId);
    reads.push({ arms, results: await readResults(db, current ?? row, now) });
  }
  return reads;
}

export function engagementProjection(): EventProjection {
  const found = allProjections(readConfig({})).find(({ name }) => name === 'engagement');
  if (found === undefined) throw new Error('There is no projection of that name.');
  return found;
}

/** @returns a function that projects everything in the log so far */
async function openProjection(db: Db): Promise<() => Promise<void>> {
  const eventLog = openEventLog(db);
  const projection = engagementProjection();
  const { name } = projection;
  await inTransaction(db, (tx) => insertProjections(tx, [name]));
  const progress = await readProgress(db, [name]);
  const run = new ProjectionRun(projection, eventLog.start);
  run.resume(progress);
  return async () => {
    for (;;) {
      const page = await eventLog.read(run.position, { limitBlocks: 100, limitEvents: 100_000 });
      run.collect(page.blocks, page.next);
      if (page.blocks.length > 0) await run.write(db);
      if (page.isLast) return;
    }
  };
}
