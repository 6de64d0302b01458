/** How long does it take to create a bulk job that matches a million items? */
import { sql } from 'kysely';
import { insertReadyItems } from './lib/catalogue.ts';
import { median, report } from './lib/report.ts';
import { startBenchService } from './lib/service.ts';

const items = 1_000_000;
await using service = await startBenchService({ REELFEED_ROLES: 'api' });
const { db } = service.database;
for (let from = 1; from <= items; from += 100_000) await insertReadyItems(db, from, from + 99_999);

async function createMs(filter: object): Promise<number> {
  const startedAt = performance.now();
  const answer = await fetch(`${service.url}/v1/content/bulk/jobs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.secretKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ operation: 'publish', filter }),
  });
  const { data } = (await answer.json()) as { data: { totalItems: number } };
  if (data.totalItems !== items) throw new Error(`${answer.status} ${JSON.stringify(data)}`);
  return performance.now() - startedAt;
}

const first = await createMs({ tags: ['all'] });
const tags: number[] = [];
const dates: number[] = [];
for (let round = 0; round < 5; round += 1) {
  tags.push(await createMs({ tags: ['all'] }));
  dates.push(await createMs({ createdAfter: '2000-01-01T00:00:00Z', contentType: 'video' }));
}
const startedAt = performance.now();
await sql`select count(*) from content where tags @> array['all']`.execute(db);
const countMs = performance.now() - startedAt;
const typical = median([first, ...tags, ...dates]);
const slowest = Math.max(first, ...tags, ...dates);
report([
  { what: 'counting the same million items', figure: `${countMs.toFixed(0)} ms` },
  { what: 'first creation, by tags', figure: `${first.toFixed(0)} ms` },
  { what: 'creation by tags, median', figure: `${median(tags).toFixed(0)} ms` },
  { what: 'creation by date and type, median', figure: `${median(dates).toFixed(0)} ms` },
  { what: 'slowest of all', figure: `${slowest.toFixed(0)} ms` },
  {
    what: 'median of all',
    figure: `${typical.toFixed(0)} ms`,
    limit: '≤ 2,000 ms',
    kept: typical <= 2_000,
  },
]);
