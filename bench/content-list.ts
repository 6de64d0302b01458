/**
 * How fast is a page of 20 of the content list? Reported as a ratio to sending the same bytes from
 * memory.
 */
import { againstMemory } from './lib/against-memory.ts';
import { insertReadyItems } from './lib/catalogue.ts';
import { report } from './lib/report.ts';
import { startBenchService } from './lib/service.ts';

await using service = await startBenchService();
await insertReadyItems(service.database.db, 1, 10_000);
const first = await againstMemory(service, '/v1/content?limit=20', service.secretKey);
const answer = await fetch(`${service.url}/v1/content?limit=20`, {
  headers: { authorization: `Bearer ${service.secretKey}` },
});
const { meta } = (await answer.json()) as { meta: { nextCursor: string } };
const target = `/v1/content?limit=20&cursor=${meta.nextCursor}`;
const next = await againstMemory(service, target, service.secretKey);

// Directus was measured with a page of 20 with a filter: 168 to 254 per second.
const filter = '/v1/content?limit=20&contentType=video&publishStatus=published';
const filtered = await againstMemory(service, filter, service.secretKey);
const compass = await measurePlainSql();

/** The same page by one statement without a count, with eight concurrent readers. */
async function measurePlainSql(): Promise<number> {
  const endAt = performance.now() + 3_000;
  let done = 0;
  const work = async () => {
    while (performance.now() < endAt) {
      await service.database.db
        .selectFrom('content')
        .selectAll()
        .where('archived_at', 'is', null)
        .where('content_type', '=', 'video')
        .where('publish_status', '=', 'published')
        .orderBy('created_at', 'desc')
        .orderBy('content_id', 'desc')
        .limit(20)
        .execute();
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
  return done / 3;
}

report([
  { what: 'bytes of a page', figure: String(first.bytes) },
  { what: 'first pages/s (counts the total)', figure: first.perSecond.toFixed(0) },
  { what: 'following pages/s', figure: next.perSecond.toFixed(0) },
  {
    what: 'first pages with a filter/s',
    figure: filtered.perSecond.toFixed(0),
    limit: '≥ 762 (three times Directus)',
    kept: filtered.perSecond >= 762,
  },
  { what: 'the same page by plain SQL, no count/s', figure: compass.toFixed(0) },
  { what: 'same bytes from memory/s', figure: next.memoryPerSecond.toFixed(0) },
  { what: 'ratio of the first page', figure: first.ratio.toFixed(2) },
  { what: 'ratio of a following page', figure: next.ratio.toFixed(2) },
  { what: 'failed requests', figure: String(first.failures + next.failures + filtered.failures) },
]);
