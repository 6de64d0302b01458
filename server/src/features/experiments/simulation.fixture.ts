/** Experiments without an effect over simulated viewers, through everything but HTTP. */
import { sql } from 'kysely';
import { inTransaction, type Db } from '../../platform/database/database.ts';
import { newTypeId } from '../../platform/ids.ts';
import { claimProjections, insertProjections } from '../../platform/projections/queries.ts';
import { ProjectionRun } from '../../platform/projections/run.ts';
import { allProjections } from '../../app/projections.ts';
import { readConfig } from '../../app/config.ts';
import {
  insertItems,
  makeContentIds,
  organizationId,
} from '../analytics/projections/projector.fixture.ts';
import { openEventLog, type LoggedEvent } from '../events/events.ts';
import { hashViewer } from '../analytics/analytics.ts';
import { ViewerSecrets } from '../organizations/organizations.ts';
import { insertExposures } from './assignments/exposure-queries.ts';
import { assign, buildView } from './assignments/view.ts';
import { experimentsInEffect } from './queries.ts';
import { defaultPlan, readResults } from './results.ts';
import { metricNames, type TreatmentResult } from './statistics/analysis.ts';
import { createRandom, type Random } from './statistics/random.fixture.ts';
import { dayMs } from '../../platform/time.ts';

const days = 14;

export type Simulation = {
  experiments: number;
  viewers: number;
  seed: number;
  /** Share of the control. */
  split: number;
};

/** How many experiments ever said something that is not true. */
export type Outcome = {
  /** A significant difference in the primary metric, at any look. */
  differences: number;
  better: number;
  worse: number;
  /** Of the sample ratio. */
  alarms: number;
  participants: number;
  /** Whose primary metric was tested at the last look. */
  tested: number;
};

/** Runs them for 14 days in a fresh database, and reads each every day. */
export async function simulate(db: Db, options: Simulation): Promise<Outcome> {
  const contentIds = makeContentIds(20);
  await insertItems(db, contentIds);
  const startMs = Math.floor(Date.now() / dayMs) * dayMs - 20 * dayMs + dayMs / 2;
  const rows = await insertRunning(db, options, startMs);
  const random = createRandom(options.seed);
  const viewers = Array.from({ length: options.viewers }, (_, index) => viewer(index, random));
  const project = await openProjection(db);
  const secrets = new ViewerSecrets();
  await secrets.load(db, [organizationId]);
  const view = buildView(1, [], rows);
  const wrong = new Map<string, 'better' | 'worse'>();
  const alarms = new Set<string>();
  const tested = new Set<string>();
  for (let day = 0; day <= days; day += 1) {
    const fromMs = startMs + day * dayMs;
    if (day < days) {
      await expose(db, view, secrets, viewers, fromMs);
      await openEventLog(db).append([
        {
          organizationId,
          events: viewers.flatMap((one) => eventsOf(one, contentIds, fromMs, random)),
        },
      ]);
      await project();
    }
    const now = new Date(fromMs + dayMs);
    for (const row of await experimentsInEffect(db, organizationId)) {
      const results = await readResults(db, row, now);
      const treatment = results.variants[1]?.metrics[row.primary_metric] as TreatmentResult;
      if (treatment.significant) {
        wrong.set(row.experiment_id, (treatment.lift ?? 0) > 0 ? 'better' : 'worse');
      }
      if (treatment.pValue !== null) tested.add(row.experiment_id);
      if (!results.health.srm.ok) alarms.add(row.experiment_id);
    }
  }
  const { rows: counted } = await sql<{ units: number }>`
    select count(*) as units from experiment_unit`.execute(db);
  const found = [...wrong.values()];
  return {
    differences: found.length,
    better: found.filter((each) => each === 'better').length,
    worse: found.filter((each) => each === 'worse').length,
    alarms: alarms.size,
    tested: tested.size,
    participants: counted[0]?.units ?? 0,
  };
}

async function insertRunning(db: Db, options: Simulation, startMs: number) {
  for (let index = 0; index < options.experiments; index += 1) {
    const variants = [
      { id: 'control', name: 'Control', traffic: options.split, config: {} },
      { id: 'other', name: 'Other', traffic: 1 - options.split, config: { [`key${index}`]: 1 } },
    ];
    await db
      .insertInto('experiment')
      .values({
        organization_id: organizationId,
        experiment_id: newTypeId('exp'),
        name: 'A/A',
        description: null,
        status: 'running',
        type: 'config',
        traffic: 1,
        variants: JSON.stringify(variants),
        metrics: [...metricNames],
        primary_metric: metricNames[index % metricNames.length] ?? 'watchTime',
        targeting: '{}',
        started_at: new Date(startMs),
        ends_at: new Date(startMs + days * dayMs),
        ranges: '[[0, 1]]',
        plan: JSON.stringify({ ...defaultPlan, minimumUnits: 20 }),
      })
      .execute();
  }
  return experimentsInEffect(db, organizationId);
}

type SimulatedViewer = {
  readonly userId: string;
  readonly firstDay: number;
  /** Chance to come on a day. */
  readonly habit: number;
  readonly plays: number;
  readonly patience: number;
};

/** Viewers differ much from each other, and most of them enter in the first days. */
function viewer(index: number, random: Random): SimulatedViewer {
  return {
    userId: `simulated-${index}`,
    firstDay: Math.floor(random() * random() * 10),
    habit: 0.2 + 0.7 * random(),
    plays: 1 + Math.floor(-4 * Math.log(1 - random())),
    patience: random() ** 0.7,
  };
}

async function expose(
  db: Db,
  view: ReturnType<typeof buildView>,
  secrets: ViewerSecrets,
  viewers: readonly SimulatedViewer[],
  atMs: number,
): Promise<void> {
  const startMs = view.running[0] === undefined ? 0 : view.running[0].endsAtMs - days * dayMs;
  const exposures = viewers
    .filter(({ firstDay }) => firstDay === Math.round((atMs - startMs) / dayMs))
    .flatMap(({ userId }) => {
      const hash = hashViewer(secrets, organizationId, `u:${userId}`);
      const unitKey = Buffer.from(hash, 'latin1');
      return assign(view, ['config'], userId, {}, atMs).map(({ experiment, index }) => ({
        experimentNumber: experiment.number,
        unitKey,
        variant: index,
        atMs,
      }));
    });
  for (let at = 0; at < exposures.length; at += 2_000) {
    await insertExposures(db, exposures.slice(at, at + 2_000));
  }
}

function eventsOf(
  { userId, habit, plays, patience }: SimulatedViewer,
  contentIds: readonly string[],
  dayStartMs: number,
  random: Random,
): LoggedEvent[] {
  const day = Math.floor(dayStartMs / dayMs);
  if (random() > habit) return [];
  const events: LoggedEvent[] = [];
  let at = dayStartMs + Math.floor(random() * dayMs * 0.8);
  const count = 1 + Math.floor(random() * plays);
  for (let play = 0; play < count; play += 1) {
    const contentId = contentIds[Math.floor(random() * contentIds.length)] ?? '';
    const base = { contentId, userId, sessionId: `${userId}-${day}` };
    const name = `${userId}-${day}-${play}`;
    events.push({
      ...base,
      eventId: `${name}-a`,
      event: 'playStart',
      at,
      data: { startupTime: 100 },
    });
    const watchTime = Math.round(30 * patience * random());
    const isCompleted = random() < patience;
    at += 1_000 + watchTime * 1_000;
    events.push({
      ...base,
      eventId: `${name}-b`,
      event: isCompleted ? 'completion' : 'watchProgress',
      at,
      data: isCompleted
        ? { watchTime, looped: false }
        : { currentTime: watchTime, duration: 60, watchTime },
    });
  }
  return events;
}

/** @returns what projects everything that is in the log by now */
async function openProjection(db: Db): Promise<() => Promise<void>> {
  const eventLog = openEventLog(db);
  const projection = allProjections(readConfig({})).find(({ name }) => name === 'engagement');
  if (projection === undefined) throw new Error('There is no projection of that name.');
  const { name } = projection;
  await inTransaction(db, (tx) => insertProjections(tx, [name]));
  const [progress] = await inTransaction(db, (tx) =>
    claimProjections(tx, { names: [name], writerId: crypto.randomUUID(), leaseMs: 3_600_000 }),
  );
  const run = new ProjectionRun(projection, eventLog.start);
  if (progress === undefined) throw new Error('Somebody else holds the projection.');
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
