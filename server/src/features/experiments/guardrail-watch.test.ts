/**
 * Proves that a harmed guardrail is detected between looks, announced once, and shown immediately.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { openTestDatabase } from '../../../test/database.ts';
import {
  insertItems,
  makeContentIds,
  organizationId,
} from '../../../test/projections/projector.ts';
import type { ExperimentId } from './experiment.ts';
import { watchGuardrails } from './guardrail-watch.ts';
import { findExperiment } from './queries.ts';
import { withHarms } from './present-results.ts';
import { readResults } from './results.ts';
import { insertRow } from '../../../test/simulation/simulation-database.ts';
import { simulatedRow } from '../../../test/simulation/simulated-row.ts';

test('a guardrail that is harmed on the first day is reported once, and stays harmed', async () => {
  const { db } = await openTestDatabase();
  await insertItems(db, makeContentIds(1));
  const now = new Date();
  const options = { viewers: 0, seed: 1, split: 0.5 };
  const { number, experiment_id: id } = await insertRow(db, {
    ...simulatedRow(1, now.getTime() - 3_600_000, options),
    metrics: ['retention'],
    primary_metric: 'retention',
    guardrails: [
      { metric: 'watchTime', margin: 0.02 },
      { metric: 'sessionsPerUser', margin: 0.02 },
    ],
  });
  await sql`
    insert into exposure (experiment_number, unit_key, variant, exposed_at)
    select ${number}, decode(lpad(to_hex(n), 16, '0'), 'hex'), n % 2, now()
    from generate_series(1, 2000) n`.execute(db);
  await sql`
    insert into experiment_unit (experiment_number, unit_key, variant, exposed_at, watch_ms, sessions)
    select ${number}, decode(lpad(to_hex(n), 16, '0'), 'hex'), n % 2, now(),
      (100 - 30 * (n % 2)) * 1000 + n % 7000, 1 + n / 2 % 3
    from generate_series(1, 2000) n`.execute(db);
  assert.equal(await watchGuardrails(db, now), 1);
  assert.equal(await watchGuardrails(db, new Date()), 0);
  const row = await findExperiment(db, organizationId, id as ExperimentId);
  assert.ok(row);
  assert.deepEqual(
    row.harms.map(({ metric, variant, at }) => ({ metric, variant, at })),
    [{ metric: 'watchTime', variant: 'other', at: now.toISOString() }],
  );
  const { guardrails, recommendation } = withHarms(await readResults(db, row, now), row);
  assert.equal(recommendation.reason, 'min_runtime');
  assert.deepEqual(
    guardrails.map(({ metric, variants }) => [metric, variants[0]?.id, variants[0]?.status]),
    [
      ['watchTime', 'other', 'harmed'],
      ['sessionsPerUser', 'other', 'undecided'],
    ],
  );
  assert.equal(guardrails[0]?.variants[0]?.harmedAt, now.toISOString());
  const { rows } = await sql<{ data: { metric: string; lift: number } }>`
    select data::jsonb as data from webhook_event where kind = 'experiment.guardrail_harmed'`.execute(
    db,
  );
  assert.deepEqual(
    rows.map(({ data }) => data.metric),
    ['watchTime'],
  );
});
