/**
 * How good is the feed? Simulated viewers with hidden tastes read the real feed and send real
 * events. A day later they come back, and that day is rated by NDCG@10, compared with newest first,
 * most popular and item-item neighbours, each without items the viewer has seen. New clips arrive
 * all day. At the end, the first world is attacked.
 *
 * `--quick` plays one seed with fewer viewers. BENCH_WORLDS, BENCH_SEEDS, BENCH_VIEWERS,
 * BENCH_CLIPS and BENCH_VISITS change the size.
 */
import { attackAll } from './lib/quality-attacks.ts';
import {
  openTenant,
  playOurs,
  discoveredAt,
  type OurFigures,
  type Tenant,
} from './lib/quality-ours.ts';
import type { QualityFigures } from './lib/quality-figures.ts';
import { playRival, rivals } from './lib/quality-rivals.ts';
import { planVisits } from './lib/quality-visits.ts';
import { makeWorld, worldNames, type WorldName } from './lib/quality-world.ts';
import { report, type Row } from './lib/report.ts';
import { startBenchService, type BenchService } from './lib/service.ts';

const isQuick = process.argv.includes('--quick');
const list = (name: string, fallback: string) => (process.env[name] ?? fallback).split(',');
const worlds = list('BENCH_WORLDS', worldNames.join()) as WorldName[];
const seeds = list('BENCH_SEEDS', isQuick ? 'ada' : 'ada,bob,cy');
const size = {
  viewers: Number(process.env['BENCH_VIEWERS'] ?? (isQuick ? 200 : 500)),
  clips: Number(process.env['BENCH_CLIPS'] ?? (isQuick ? 300 : 600)),
  visits: Number(process.env['BENCH_VISITS'] ?? (isQuick ? 7 : 9)),
};

type Result = Record<keyof typeof rivals, QualityFigures> &
  Record<'weights' | 'learned', OurFigures>;

await using service = await startBenchService({
  REELFEED_ROLES: 'api,worker',
  // A page that falls back to newest first on a busy machine would say nothing about ranking.
  REELFEED_FEED_RANKING_BUDGET: '10s',
  REELFEED_TASTE_INTERVAL: '2s',
  REELFEED_LEARNING_INTERVAL: '3s',
});
const rows: Row[] = [];
let newestKept = 0;
/** The organization of the first world that was played with weights. */
let attacked: Tenant | null = null;
for (const name of worlds) {
  const results: Result[] = [];
  for (const seed of seeds) results.push(await simulate(service, name, seed));
  rows.push(...rowsOf(name, results));
}
if (attacked !== null) rows.push(...(await attackAll(service, attacked)));
if (worlds.length === worldNames.length) {
  rows.push({
    what: 'worlds in which weights have 1.3× newest first',
    figure: `${newestKept} of ${worlds.length}`,
    limit: '≥ 4',
    kept: newestKept >= 4,
  });
}
report(rows);

async function simulate(bench: BenchService, name: WorldName, seed: string): Promise<Result> {
  const play = (make: (typeof rivals)['newest']) => {
    const world = makeWorld(name, seed, size);
    return playRival(world, planVisits(world), make());
  };
  const playReal = async (objective: 'weights' | 'learned') => {
    const world = makeWorld(name, seed, size);
    const tenant = await openTenant(bench, `${name} ${seed} ${objective}`);
    attacked ??= tenant;
    return playOurs(bench, tenant, world, planVisits(world), objective);
  };
  return {
    newest: play(rivals.newest),
    popular: play(rivals.popular),
    itemItem: play(rivals.itemItem),
    weights: await playReal('weights'),
    learned: await playReal('learned'),
  };
}

function rowsOf(world: WorldName, results: readonly Result[]): Row[] {
  const mean = (of: (result: Result) => number) =>
    results.reduce((sum, result) => sum + of(result), 0) / results.length;
  const line = (policy: keyof Result): Row => ({
    what: `${world}: ${policy}`,
    figure:
      `NDCG@10 ${mean((one) => one[policy].ndcg).toFixed(3)}, ` +
      `coverage ${mean((one) => one[policy].coverage).toFixed(2)}`,
  });
  const against = (ours: 'weights' | 'learned', rival: keyof typeof rivals) =>
    mean((one) => one[ours].ndcg) / mean((one) => one[rival].ndcg);
  if (against('weights', 'newest') >= 1.3) newestKept += 1;
  const discovery = mean((one) => one.weights.discovery);
  return [
    line('newest'),
    line('popular'),
    line('itemItem'),
    line('weights'),
    line('learned'),
    {
      what: `${world}: models that were used`,
      figure: results.map(({ learned }) => learned.model).join(', '),
    },
    ...(['weights', 'learned'] as const).flatMap((ours): Row[] => [
      {
        what: `${world}: ${ours} against newest first`,
        figure: `${against(ours, 'newest').toFixed(2)}×`,
      },
      {
        what: `${world}: ${ours} against popular`,
        figure: `${against(ours, 'popular').toFixed(2)}×`,
        limit: '≥ 1.15×',
        kept: against(ours, 'popular') >= 1.15,
      },
      {
        what: `${world}: ${ours} against item-item`,
        figure: `${against(ours, 'itemItem').toFixed(2)}×`,
      },
    ]),
    {
      what: `${world}: a new clip has ${discoveredAt} impressions after`,
      figure: `${(discovery * 100).toFixed(1)} % of the day`,
    },
  ];
}
