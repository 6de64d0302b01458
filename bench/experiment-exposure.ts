/**
 * What does an experiment cost the feed? Ranked pages for known viewers with a running experiment
 * that changes nothing, as a ratio to the same pages without one, measured alternately: for viewers
 * already exposed, and for viewers new to the service.
 */
import { insertReadyItems } from './lib/catalogue.ts';
import { load } from './lib/load.ts';
import { median, report } from './lib/report.ts';
import { startBenchService, type BenchService } from './lib/service.ts';

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 7);
const seconds = Number(process.env['BENCH_SECONDS'] ?? 3);
const connections = 16;
const viewers = 2_000;

await using exposing = await startBenchService({ REELFEED_ROLES: 'api,worker' });
await using plain = await startBenchService({ REELFEED_ROLES: 'api,worker' });
for (const { database } of [exposing, plain]) await insertReadyItems(database.db, 1, 10_000);
await startExperiment(exposing);

let newcomers = 0;
const known = Array.from({ length: viewers }, (_, viewer) => pathOf(`known-${viewer}`));
const cases = [
  { what: 'viewers already exposed', paths: () => known },
  {
    what: 'new viewers',
    paths: () => Array.from({ length: 1_000 }, () => pathOf(`new-${(newcomers += 1)}`)),
  },
];
const figures = [];
for (const { what, paths } of cases) {
  const ratios: number[] = [];
  let failures = 0;
  for (let round = -1; round < rounds; round += 1) {
    // The first measurement in a round finds the machine as the previous round left it, so the
    // order alternates.
    const order = round % 2 === 0 ? [exposing, plain] : [plain, exposing];
    const rates = new Map<BenchService, number>();
    for (const service of order) {
      const { url, publishableKey: key } = service;
      const loaded = await load({ url, paths: paths(), key, connections, seconds });
      rates.set(service, loaded.perSecond);
      failures += loaded.failures;
    }
    if (round >= 0) ratios.push((rates.get(plain) ?? 0) / (rates.get(exposing) ?? Number.NaN));
  }
  const cost = median(ratios);
  figures.push({
    what: `cost of an experiment, ${what}`,
    figure: `${cost.toFixed(3)}×`,
    limit: '≤ 1.1×',
    kept: cost <= 1.1 && failures === 0,
  });
}
report(figures);

function pathOf(userId: string): string {
  return `/v1/feed?limit=20&userId=${userId}`;
}

async function startExperiment({ url, secretKey }: BenchService): Promise<void> {
  const headers = { authorization: `Bearer ${secretKey}`, 'content-type': 'application/json' };
  const call = async (path: string, body?: object) => {
    const init = { method: 'POST', headers, body: JSON.stringify(body ?? {}) };
    const answer = await fetch(`${url}/v1/experiments${path}`, init);
    if (!answer.ok) throw new Error(await answer.text());
    return ((await answer.json()) as { data: { id: string } }).data;
  };
  const { id } = await call('', {
    name: 'Nothing new',
    type: 'ranking',
    traffic: 1,
    variants: ['control', 'same'].map((name) => ({ id: name, name, traffic: 0.5 })),
    metrics: ['watchTime'],
  });
  await call(`/${id}/start`);
}
