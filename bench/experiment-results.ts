/**
 * How long do results of an experiment with a million participants take, and how long an
 * assignment?
 */
import { sql } from 'kysely';
import { assignVariant } from '@reelfeed/client/assignment';
import { readArms } from '../server/src/features/experiments/arms.ts';
import { findExperiment } from '../server/src/features/experiments/queries.ts';
import { computeBetweenLooks, readResults } from '../server/src/features/experiments/results.ts';
import { newTypeId, type OrganizationId } from '../server/src/platform/values/ids.ts';
import { median, report } from './lib/report.ts';
import { startBenchService } from './lib/service.ts';

const units = Number(process.env['UNITS'] ?? 1_000_000);
await using service = await startBenchService({ REELFEED_ROLES: 'api' });
const { db } = service.database;
const { rows } = await sql<{ organization_id: string }>`
  select organization_id from organization`.execute(db);
const organizationId = rows[0]?.organization_id as OrganizationId;
const experimentId = newTypeId('exp');
const variants = [
  { id: 'control', name: 'Control', traffic: 0.5, config: {} },
  { id: 'other', name: 'Other', traffic: 0.5, config: { 'a.b': 1 } },
];
const startedAt = new Date(Date.now() - 10 * 24 * 3_600_000);
await db
  .insertInto('experiment')
  .values({
    organization_id: organizationId,
    experiment_id: experimentId,
    name: 'Large',
    description: null,
    status: 'running',
    type: 'config',
    traffic: 1,
    variants: JSON.stringify(variants),
    metrics: ['watchTime', 'completionRate', 'sessionsPerUser', 'retention'],
    primary_metric: 'watchTime',
    targeting: '{}',
    started_at: startedAt,
    ranges: '[[0, 1]]',
  })
  .execute();
const row = await findExperiment(db, organizationId, experimentId);
if (row === null) throw new Error('The experiment is gone.');
const chunk = 50_000;
for (let from = 1; from <= units; from += chunk) {
  await sql`
    insert into exposure (experiment_number, unit_key, variant, exposed_at, is_counted)
    select ${row.number}, decode(lpad(to_hex(n), 16, '0'), 'hex'), n % 2,
      ${startedAt}::timestamptz + random() * interval '9 days', true
    from generate_series(${from}::int, ${Math.min(units, from + chunk - 1)}::int) n`.execute(db);
  await sql`
    insert into experiment_unit (experiment_number, unit_key, variant, exposed_at, plays, completions,
      watch_ms, sessions, returned, earlier_watch_ms, earlier_sessions)
    select ${row.number}, decode(lpad(to_hex(n), 16, '0'), 'hex'), n % 2,
      ${startedAt}::timestamptz + random() * interval '9 days', 20 * random(), 10 * random(),
      -300000 * ln(1 - random()), 5 * random(), random() < 0.4, -200000 * ln(1 - random()),
      4 * random()
    from generate_series(${from}::int, ${Math.min(units, from + chunk - 1)}::int) n`.execute(db);
}
await sql`vacuum analyze experiment_unit`.execute(db);
await sql`vacuum analyze exposure`.execute(db);

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const startedAtMs = performance.now();
  await work();
  return (performance.now() - startedAtMs) / 1_000;
}

const plan = {
  gateSalt: `${experimentId}:gate`,
  splitSalt: `${experimentId}:split`,
  ranges: [[0, 1]] as const,
  variants,
  targeting: {},
};
const rounds = 300_000;
let assigned = 0;
for (let unit = 0; unit < 50_000; unit += 1) assignVariant(plan, `viewer-${unit}`, {});
const assignmentStart = performance.now();
for (let unit = 0; unit < rounds; unit += 1) {
  if (assignVariant(plan, `viewer-${unit}`, {}) !== null) assigned += 1;
}
const assignmentUs = ((performance.now() - assignmentStart) * 1_000) / assigned;

await readArms(db, row, new Date());
const fresh: number[] = [];
const kept: number[] = [];
for (let round = 0; round < 5; round += 1) {
  fresh.push(await seconds(() => computeBetweenLooks(db, row, new Date())));
  kept.push(
    await seconds(async () => {
      const now = await findExperiment(db, organizationId, experimentId);
      if (now !== null) await readResults(db, now, new Date());
    }),
  );
}
const resultSeconds = median(kept);
report([
  {
    what: `calculating them, once a minute in the background`,
    figure: `${median(fresh).toFixed(2)} s`,
  },
  {
    what: `results of ${units} participants`,
    figure: `${resultSeconds.toFixed(3)} s`,
    limit: '1 s',
    kept: resultSeconds <= 1,
  },
  {
    what: 'an assignment',
    figure: `${assignmentUs.toFixed(2)} µs`,
    limit: '5 µs',
    kept: assignmentUs <= 5,
  },
]);
