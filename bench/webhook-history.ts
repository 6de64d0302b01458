/**
 * Are the statistics and every page of deliveries of a webhook with a million deliveries served in
 * under 50 ms? Measured over HTTP, one request at a time; the slowest list is named.
 */
import { fillHistory } from '../server/test/webhooks/webhooks.ts';
import { report } from './lib/report.ts';
import { startBenchService } from './lib/service.ts';
import { registerWebhooks } from './lib/webhooks.ts';

const deliveries = 1_000_000;
const requests = 50;
const limitMs = 50;

await using service = await startBenchService();
const [webhookId = ''] = await registerWebhooks(service, 'https://1.1.1.1/hook', 1);
const { db } = service.database;
const { organization_id: organizationId } = await db
  .selectFrom('organization')
  .select('organization_id')
  .executeTakeFirstOrThrow();
await fillHistory(db, { organizationId, webhookId, count: deliveries });

type Answer = {
  data: { stats?: Record<string, unknown> };
  meta: { total?: number; nextCursor?: string | null };
};

async function get(target: string): Promise<{ tookMs: number; answer: Answer }> {
  const startedAt = performance.now();
  const reply = await fetch(`${service.url}/v1/webhooks/${webhookId}${target}`, {
    headers: { authorization: `Bearer ${service.secretKey}` },
  });
  const answer = (await reply.json()) as Answer;
  return { tookMs: performance.now() - startedAt, answer };
}

/** The 95th percentile in milliseconds, following the pages of a list. */
async function p95(target: string): Promise<number> {
  const times: number[] = [];
  let cursor = '';
  for (let n = -5; n < requests; n += 1) {
    const { tookMs, answer } = await get(`${target}${cursor}`);
    if (n >= 0) times.push(tookMs);
    const { nextCursor } = answer.meta;
    cursor = typeof nextCursor === 'string' ? `&cursor=${nextCursor}` : '';
  }
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? Number.NaN;
}

const row = (what: string, ms: number) => ({
  what: `${what}, p95`,
  figure: `${ms.toFixed(1)} ms`,
  limit: `≤ ${limitMs} ms`,
  kept: ms <= limitMs,
});
const { stats = {} } = (await get('')).answer.data;
const isExact =
  stats['totalDeliveries'] === deliveries &&
  stats['successfulDeliveries'] === deliveries - deliveries / 100 &&
  stats['failedDeliveries'] === deliveries / 100;

report([
  { what: 'deliveries', figure: String(stats['totalDeliveries']), kept: isExact },
  row('statistics', await p95('')),
  row('all', await p95('/deliveries?limit=100')),
  row('successful', await p95('/deliveries?limit=100&status=success')),
  row('failed', await p95('/deliveries?limit=100&status=failed')),
  row('pending', await p95('/deliveries?limit=100&status=pending')),
]);
