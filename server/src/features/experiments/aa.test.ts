/**
 * A/A experiments on simulated viewers: the in-memory simulation agrees with the service, and false
 * positives stay rare. `bench/experiment-errors.ts` is the long version.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { openTestDatabase } from '../../../test/database.ts';
import type { Db } from '../../platform/database/database.ts';
import { dayMs } from '../../platform/values/time.ts';
import { rebuildProjection } from '../../platform/projections/rebuild.ts';
import { makeContentIds } from '../../../test/projections/projector.ts';
import { openEventLog } from '../events/events.ts';
import {
  engagementProjection,
  simulateInDatabase,
} from '../../../test/simulation/simulation-database.ts';
import { simulatedRow } from '../../../test/simulation/simulated-row.ts';
import { simulateOne, tallyFalseFindings } from '../../../test/simulation/simulation.ts';
import { metricNames, type ArmData } from './statistics/analysis.ts';

function assertSameArms(found: readonly ArmData[], expected: readonly ArmData[], at: string): void {
  const flat = (value: unknown): unknown[] =>
    typeof value === 'object' && value !== null ? Object.values(value).flatMap(flat) : [value];
  const [some, others] = [flat(found), flat(expected)];
  assert.equal(some.length, others.length, at);
  for (const [index, value] of some.entries()) {
    const other = others[index];
    if (typeof value !== 'number' || typeof other !== 'number') assert.equal(value, other, at);
    else assert.ok(Math.abs(value - other) <= 1e-9 * (1 + Math.abs(other)), `${at}: ${value}`);
  }
}

async function readUnits(db: Db): Promise<string[]> {
  const { rows } = await sql<{ unit: string }>`
    select experiment_unit::text as unit from experiment_unit
    union all select viewer_day::text from viewer_day order by 1`.execute(db);
  return rows.map(({ unit }) => unit);
}

test('an experiment gives the same results in memory, through the database, and after a rebuild', async () => {
  const { db } = await openTestDatabase();
  const startMs = Math.floor(Date.now() / dayMs) * dayMs - 20 * dayMs + dayMs / 2;
  // Enough viewers for the cap on watch times to take effect; traffic grows from the fourth day.
  const ramp = { from: 0.4, untilDay: 3, laterStay: 1.5 };
  const options = { viewers: 1_050, seed: 7, split: 0.5, ramp };
  const row = simulatedRow(1, startMs, options);
  const contentIds = makeContentIds(20);
  const inDatabase = await simulateInDatabase(db, row, options, contentIds);
  const inMemory = simulateOne(row, options, contentIds);
  assert.equal(inDatabase.length, 14);
  for (const [day, { arms, results }] of inDatabase.entries()) {
    const expected = inMemory[day];
    assert.ok(expected);
    assertSameArms(arms, expected.arms, `day ${day}`);
    const { winner, reason } = results.recommendation;
    assert.equal(reason, expected.analysis.recommendation.reason);
    assert.equal(winner === null, expected.analysis.recommendation.winnerIndex === null);
    for (const metric of metricNames) {
      const found = results.variants[1]?.metrics[metric] as { confidence: number };
      const confidence = expected.analysis.arms[1]?.metrics[metric]?.confidence ?? -1;
      assert.ok(Math.abs(found.confidence - confidence) < 1e-6, `day ${day}, ${metric}`);
    }
  }
  const live = await readUnits(db);
  assert.ok(live.length > 1_050);
  const { signal } = new AbortController();
  await sql`update experiment_unit set plays = plays + 1`.execute(db);
  await rebuildProjection(engagementProjection(), { db, eventLog: openEventLog(db), signal });
  assert.deepEqual(await readUnits(db), live);
});

test('experiments without an effect rarely name a winner under daily reading, and raise no alarm', () => {
  const runs = 30;
  const tally = tallyFalseFindings(runs, { viewers: 260, seed: 1, split: 0.5 });
  for (const metric of metricNames) {
    assert.ok(tally.tested[metric] >= runs - 2, metric);
    // About 5 % are expected: 7 of 30 would happen once in 2,000 runs, and so would 5 in one
    // direction.
    const [better, worse] = [tally.better[metric], tally.worse[metric]];
    assert.ok(better + worse <= 6 && better <= 4 && worse <= 4, JSON.stringify(tally));
  }
  assert.ok(tally.winners <= 4 && tally.alarms <= 1, JSON.stringify(tally));
});
