/**
 * How fast is a feed page of 20 items? As a ratio to a route that sends the same bytes from
 * memory, with 10,000 and 100,000 eligible items; latency at half of the saturation rate.
 */
import { againstMemory } from './lib/against-memory.ts';
import { insertReadyItems } from './lib/catalogue.ts';
import { load } from './lib/load.ts';
import { report } from './lib/report.ts';
import { startBenchService } from './lib/service.ts';

await using service = await startBenchService();
const target = '/v1/feed?limit=20';
const { publishableKey: key } = service;
await insertReadyItems(service.database.db, 1, 10_000);
const small = await againstMemory(service, target, key);
const half = await load({
  url: `${service.url}${target}`,
  key,
  connections: 16,
  seconds: 5,
  perSecond: Math.floor(small.perSecond / 2),
});
await insertReadyItems(service.database.db, 10_001, 100_000);
const large = await againstMemory(service, target, key);
const cost = small.ratio / large.ratio;

report([
  { what: 'bytes of a page', figure: String(small.bytes) },
  { what: 'feed pages/s, 10,000 items', figure: small.perSecond.toFixed(0) },
  { what: 'same bytes from memory/s', figure: small.memoryPerSecond.toFixed(0) },
  { what: 'ratio', figure: small.ratio.toFixed(2), limit: '≥ 0.40', kept: small.ratio >= 0.4 },
  { what: 'p50 at half of that rate', figure: `${half.p50Ms} ms` },
  {
    what: 'p99 at half of that rate',
    figure: `${half.p99Ms} ms`,
    limit: '≤ 25 ms',
    kept: half.p99Ms <= 25,
  },
  { what: 'feed pages/s, 100,000 items', figure: large.perSecond.toFixed(0) },
  {
    what: 'cost of ten times the items',
    figure: `${cost.toFixed(2)}×`,
    limit: '≤ 1.5×',
    kept: cost <= 1.5,
  },
  { what: 'failed requests', figure: String(small.failures + half.failures + large.failures) },
]);
