/**
 * Proves that the timeline of a metric repeats what was read on those days, that custom metrics
 * agree with built-in metrics of the same meaning, and that segments add up.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { openTestDatabase } from '../../../test/database.ts';
import { allProjections } from '../../app/projections.ts';
import { readConfig } from '../../app/config.ts';
import { rebuildProjection } from '../../platform/projections/rebuild.ts';
import { dayMs } from '../../platform/values/time.ts';
import { makeContentIds, organizationId } from '../../../test/projections/projector.ts';
import { openEventLog } from '../events/events.ts';
import { readArms } from './arms.ts';
import {
  compareValues,
  openMeasure,
  readBreakdownSegments,
  readValues,
  type Measure,
} from './breakdown.ts';
import type { ExperimentId, ExperimentRow } from './experiment.ts';
import { findExperiment } from './queries.ts';
import {
  simulateInDatabase,
  type DatabaseRead,
} from '../../../test/simulation/simulation-database.ts';
import { simulatedRow } from '../../../test/simulation/simulated-row.ts';
import { testMetric } from './statistics/analysis.ts';
import { planOf } from './experiment.ts';
import { readTimeline } from './timeline.ts';

const startMs = Math.floor(Date.now() / dayMs) * dayMs - 20 * dayMs;
const end = new Date(startMs + 14 * dayMs);
const options = { viewers: 500, seed: 11, split: 0.5 };

const { db } = await openTestDatabase();
const definitions = [
  ['own_plays', { type: 'count', counted: { event: 'playStart', field: null, where: [] } }],
  [
    'own_rate',
    {
      type: 'ratio',
      counted: { event: 'completion', field: null, where: [] },
      denominator: { event: 'playStart', field: null, where: [] },
    },
  ],
  [
    'own_mean',
    { type: 'mean', counted: { event: 'completion', field: 'watchTime', where: [] }, cap: 10 },
  ],
  [
    'own_share',
    {
      type: 'share',
      windowHours: 150,
      counted: {
        event: 'completion',
        field: null,
        where: [{ field: 'watchTime', operator: 'gt', value: 10 }],
      },
    },
  ],
] as const;
const wanted = simulatedRow(1, startMs, options);
const reads: DatabaseRead[] = await simulateInDatabase(db, wanted, options, makeContentIds(20));
for (const [name, definition] of definitions) {
  const none = { denominator: null, windowHours: null, cap: null, direction: 'increase' };
  await sql`
      insert into metric (organization_id, metric_id, name, definition) values
        (${organizationId}, ${`met_${name}`}, ${name},
          ${JSON.stringify({ ...none, ...definition })}::jsonb)`.execute(db);
}
const metrics = allProjections(readConfig({})).find(({ name }) => name === 'metrics');
assert.ok(metrics);
const { signal } = new AbortController();
await rebuildProjection(metrics, { db, eventLog: openEventLog(db), signal });
const found = await findExperiment(db, organizationId, wanted.experiment_id as ExperimentId);
assert.ok(found);
// The row as it is after the experiment has ended.
const row: ExperimentRow = { ...found, status: 'completed', ended_at: end };

const near = (found: number, expected: number, what: string) =>
  assert.ok(
    Math.abs(found - expected) <= 1e-9 * (1 + Math.abs(expected)),
    `${what}: ${found}, ${expected}`,
  );

async function measureOf(name: string): Promise<Measure> {
  return openMeasure(db, row, end, name);
}

test('each day in the timeline of a metric equals the reading at the end of that day', async () => {
  for (const metric of ['watchTime', 'sessionsPerUser', 'completionRate', 'retention']) {
    const { points, novelty } = await readTimeline(db, await measureOf(metric));
    assert.equal(points.length, 14);
    assert.ok(novelty.every(({ isFading }) => !isFading));
    for (const [day, { arms }] of reads.entries()) {
      const plan = { ...planOf(row), controlId: 'control' };
      const expected = testMetric(metric, arms, plan, null);
      const [control, other] = points[day]?.variants ?? [];
      assert.ok(control && other);
      assert.equal(points[day]?.date, new Date(startMs + day * dayMs).toISOString().slice(0, 10));
      near(control.value, expected.control.value, `${metric}, day ${day}`);
      near(other.value, expected.results[1]?.value ?? -1, `${metric}, day ${day}`);
      near(other.lift ?? 0, expected.results[1]?.lift ?? 0, `${metric}, lift of day ${day}`);
      const interval = other.liftInterval;
      if (interval !== null) assert.ok(interval[0] < interval[1]);
    }
    assert.ok(points.at(-1)?.variants[1]?.liftInterval);
  }
});

test('custom metrics equal built-in metrics with the same meaning', async () => {
  const { arms } = await readArms(
    db,
    { ...row, metrics: ['own_plays', 'own_rate', 'own_mean', 'own_share'] },
    end,
  );
  for (const arm of arms) {
    const { own_plays: plays, own_rate: rate, own_mean: mean, own_share: share } = arm.own ?? {};
    assert.ok(plays?.kind === 'mean' && rate?.kind === 'ratio');
    assert.ok(mean?.kind === 'ratio' && share?.kind === 'share');
    const { completionRate } = arm;
    near(plays.outcome.mean, completionRate.denominator.mean, 'plays');
    near(plays.outcome.variance, completionRate.denominator.variance, 'variance of plays');
    assert.ok(plays.covariate.mean > 0 && plays.covariance > 0, 'plays before explain plays after');
    near(rate.numerator.mean, completionRate.numerator.mean, 'completions');
    near(rate.covariance, completionRate.covariance, 'covariance');
    near(rate.denominator.variance, completionRate.denominator.variance, 'variance');
    const average = mean.numerator.mean / mean.denominator.mean;
    assert.ok(average > 1 && average < 10, `${average}`);
    assert.ok(share.units > 0 && share.units < plays.units, 'those whose window is over');
    assert.ok(share.successes > 0 && share.successes < share.units);
  }
  const measure = await measureOf('own_rate');
  const early = await readTimeline(db, measure);
  const builtIn = await readTimeline(db, await measureOf('completionRate'));
  for (const [day, point] of early.points.entries()) {
    near(
      point.variants[1]?.value ?? 0,
      builtIn.points[day]?.variants[1]?.value ?? -1,
      `day ${day}`,
    );
  }
});

test('segments add up to the whole, and are judged as one family', async () => {
  const measure = await measureOf('sessionsPerUser');
  const whole = compareValues(measure, await readValues(db, measure, {}));
  const { values, comparisons, leftOut } = await readBreakdownSegments(
    db,
    measure,
    'newOrReturning',
  );
  assert.deepEqual(values.map(({ value }) => value).toSorted(), ['new', 'returning']);
  assert.deepEqual([comparisons, leftOut], [1, 0], 'few are new');
  for (const index of [0, 1]) {
    const units = values.map(({ variants }) => variants[index]?.participants ?? 0);
    assert.equal(
      units.reduce((sum, count) => sum + count, 0),
      whole.units[index],
    );
  }
  const countries = await readBreakdownSegments(db, measure, 'country');
  assert.deepEqual(
    countries.values.map(({ value }) => value),
    ['unknown'],
  );
});

test('an effect that is gone in the second half is reported as fading', async () => {
  const middle = new Date(startMs + 7 * dayMs);
  // Treated viewers watch four times as long as the others in the first half, and equally long
  // after.
  await sql`
    update experiment_unit unit
    set watch_ms = 4 * unit.watch_ms - 3 * coalesce((
      select sum(days.watch_ms) from viewer_day days
      where days.viewer_key = unit.unit_key and days.day >= (${middle} at time zone 'UTC')::date), 0)
    where variant = 1`.execute(db);
  const { novelty } = await readTimeline(db, await measureOf('watchTime'));
  assert.equal(novelty[0]?.variant, 'other');
  assert.equal(novelty[0]?.isFading, true, JSON.stringify(novelty));
  assert.ok((novelty[0]?.earlyLift ?? 0) > 2 && Math.abs(novelty[0]?.lateLift ?? 9) < 0.5);
});
