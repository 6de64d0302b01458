/**
 * Does midnight block a process? 50 running experiments of different lengths have a look due at the
 * same time, each with its own boundaries to calculate. An event loop delay may be caused by other
 * programs on the machine, so the thread's own CPU time between two ticks is reported as well.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { takeDueLooks } from '../server/src/features/experiments/catch-up.ts';
import { defaultPlan } from '../server/src/features/experiments/experiment.ts';
import { newTypeId } from '../server/src/platform/values/ids.ts';
import { report } from './lib/report.ts';
import { startBenchService } from './lib/service.ts';

const experiments = 50;
const units = 2_000;
const dayMs = 24 * 3_600_000;

await using service = await startBenchService({ REELFEED_ROLES: 'api' });
const { db } = service.database;
const { rows } = await sql<{ organization_id: string }>`
  select organization_id from organization`.execute(db);
const organizationId = rows[0]?.organization_id ?? '';
const now = new Date();
for (let index = 0; index < experiments; index += 1) {
  const startedAt = new Date(now.getTime() - (12 + (index % 14)) * dayMs);
  const variants = ['control', 'other'].map((id) => ({ id, name: id, traffic: 0.5, config: {} }));
  const { number } = await db
    .insertInto('experiment')
    .values({
      organization_id: organizationId,
      experiment_id: newTypeId('exp'),
      name: `Experiment ${index}`,
      description: null,
      status: 'running',
      type: 'config',
      traffic: 1,
      variants: JSON.stringify(variants),
      metrics: ['watchTime', 'completionRate', 'sessionsPerUser', 'retention'],
      primary_metric: 'watchTime',
      targeting: '{}',
      started_at: startedAt,
      ends_at: new Date(startedAt.getTime() + (28 + index) * dayMs),
      ranges: '[[0, 1]]',
      plan: JSON.stringify(defaultPlan),
    })
    .returning('number')
    .executeTakeFirstOrThrow();
  await sql`
    with made as (
      insert into exposure (experiment_number, unit_key, variant, exposed_at, is_counted)
      select ${number}, decode(lpad(to_hex(n), 16, '0'), 'hex'), n % 2, ${startedAt}, true
      from generate_series(1, ${units}::int) n
      returning experiment_number, unit_key, variant, exposed_at
    )
    insert into experiment_unit (experiment_number, unit_key, variant, exposed_at, plays, completions,
      watch_ms, sessions, returned)
    select experiment_number, unit_key, variant, exposed_at, 20 * random(), 10 * random(),
      -300000 * ln(1 - random()), 5 * random(), random() < 0.4
    from made`.execute(db);
}

const idle = await longestPause(() => delay(5_000));
const startedAtMs = performance.now();
const looking = await longestPause(() => takeDueLooks(db, now));
const seconds = (performance.now() - startedAtMs) / 1_000;
const { rows: looked } = await sql<{ looks: number }>`
  select count(*) as looks from experiment where results is not null`.execute(db);
report([
  {
    what: `looks at ${experiments} experiments, in ${seconds.toFixed(1)} s`,
    figure: String(looked[0]?.looks ?? 0),
    limit: String(experiments),
    kept: looked[0]?.looks === experiments,
  },
  { what: 'longest pause of the event loop while idle', figure: milliseconds(idle.pauseMs) },
  { what: 'longest pause of the event loop while looking', figure: milliseconds(looking.pauseMs) },
  {
    what: 'maximum CPU time of the thread between two ticks while looking',
    figure: milliseconds(looking.busyMs),
    limit: '≤ 50 ms',
    kept: looking.busyMs <= 50,
  },
]);

function milliseconds(value: number): string {
  return `${value.toFixed(1)} ms`;
}

type Pause = { pauseMs: number; busyMs: number };

async function longestPause(work: () => Promise<unknown>): Promise<Pause> {
  const resolution = 5;
  const delays = monitorEventLoopDelay({ resolution });
  let before = process.threadCpuUsage();
  let busyMs = 0;
  const ticks = setInterval(() => {
    const { user, system } = process.threadCpuUsage(before);
    before = process.threadCpuUsage();
    busyMs = Math.max(busyMs, (user + system) / 1_000);
  }, resolution);
  delays.enable();
  await work();
  delays.disable();
  clearInterval(ticks);
  return { pauseMs: delays.max / 1e6 - resolution, busyMs };
}
