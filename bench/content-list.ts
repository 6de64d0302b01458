/** How fast is a page of 20 of the content list? As a ratio to the same bytes sent from memory. */
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

report([
  { what: 'bytes of a page', figure: String(first.bytes) },
  { what: 'first pages/s (counts the total)', figure: first.perSecond.toFixed(0) },
  { what: 'following pages/s', figure: next.perSecond.toFixed(0) },
  { what: 'same bytes from memory/s', figure: next.memoryPerSecond.toFixed(0) },
  { what: 'ratio of the first page', figure: first.ratio.toFixed(2) },
  { what: 'ratio of a following page', figure: next.ratio.toFixed(2) },
  { what: 'failed requests', figure: String(first.failures + next.failures) },
]);
