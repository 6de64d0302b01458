/** Proves that results with many participants are calculated at most once a minute. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { openTestDatabase } from '../../../test/database.ts';
import {
  insertItems,
  makeContentIds,
  organizationId,
} from '../../../test/projections/projector.ts';
import { takeDueLooks } from './catch-up.ts';
import type { ExperimentId } from './experiment.ts';
import { findExperiment } from './queries.ts';
import { readResults } from './results.ts';
import { insertRow } from '../../../test/simulation/simulation-database.ts';
import { simulatedRow } from '../../../test/simulation/simulated-row.ts';

test('results with many participants are cached for a while and refreshed in the background', async () => {
  const { db } = await openTestDatabase();
  await insertItems(db, makeContentIds(1));
  const startMs = Date.now() - 3 * 24 * 3_600_000;
  const options = { viewers: 0, seed: 1, split: 0.5, isPlanned: false };
  const { number, experiment_id: id } = await insertRow(db, simulatedRow(1, startMs, options));
  const add = async (from: number, to: number) => {
    for (const table of ['exposure', 'experiment_unit']) {
      await sql`
        insert into ${sql.table(table)} (experiment_number, unit_key, variant, exposed_at)
        select ${number}, decode(lpad(to_hex(n), 16, '0'), 'hex'), n % 2, now()
        from generate_series(${from}::int, ${to}::int) n`.execute(db);
    }
  };
  const readAt = async (now: Date) => {
    const row = await findExperiment(db, organizationId, id as ExperimentId);
    assert.ok(row);
    const { asOf, variants } = await readResults(db, row, now);
    return [asOf, variants[0]?.participants, variants[1]?.participants];
  };
  const [first, soon, later, muchLater] = [0, 61, 62, 185].map(
    (seconds) => new Date(Date.now() + seconds * 1_000),
  ) as [Date, Date, Date, Date];
  await add(1, 1_000);
  assert.deepEqual(await readAt(first), [first.toISOString(), 500, 500]);
  assert.deepEqual(
    await readAt(soon),
    [soon.toISOString(), 500, 500],
    'results with few participants are calculated each time',
  );
  await add(1_001, 100_000);
  assert.deepEqual(await readAt(first), [first.toISOString(), 50_000, 50_000]);
  await add(100_001, 100_010);
  assert.deepEqual(await readAt(soon), [first.toISOString(), 50_000, 50_000]);
  await takeDueLooks(db, soon);
  assert.deepEqual(await readAt(later), [soon.toISOString(), 50_005, 50_005]);
  assert.deepEqual(await readAt(muchLater), [muchLater.toISOString(), 50_005, 50_005]);
});
