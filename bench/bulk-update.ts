/**
 * What does a bulk update of 100 items cost over HTTP? Reported as a ratio to one bare, committed
 * SQL UPDATE of the same rows with the same values, measured alternately.
 */
import { sql } from 'kysely';
import { insertReadyItems } from './lib/catalogue.ts';
import { median, report } from './lib/report.ts';
import { startBenchService } from './lib/service.ts';

const rounds = 120;
const warmUps = 20;
const items = 100;
await using service = await startBenchService();
const { db } = service.database;
await insertReadyItems(db, 1, 20_000);
const { rows } = await sql<{ content_id: string }>`
  select content_id from content order by random() limit ${rounds * items}`.execute(db);
const ids = rows.map((row) => row.content_id);

async function bareUpdate(batch: readonly string[], round: number): Promise<void> {
  const titles = batch.map((_, n) => `Title ${round} ${n}`);
  await sql`
    update content set title = given.title, visibility = 'public', tags = array['all', 'bench'],
      revision = revision + 1, updated_at = clock_timestamp()
    from unnest(${batch}::uuid[], ${titles}::text[]) as given (content_id, title)
    where organization_id = (select organization_id from organization order by created_at limit 1)
      and content.content_id = given.content_id
  `.execute(db);
}

async function bulkUpdate(
  batch: readonly string[],
  round: number,
  key: string | null,
): Promise<void> {
  const answer = await fetch(`${service.url}/v1/content/bulk/update`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${service.secretKey}`,
      'content-type': 'application/json',
      ...(key !== null && { 'idempotency-key': key }),
    },
    body: JSON.stringify({
      items: batch.map((id, n) => ({
        id,
        title: `Title ${round} ${n}`,
        visibility: 'public',
        tags: ['all', 'bench'],
      })),
    }),
  });
  const { data } = (await answer.json()) as { data?: { totalSuccessful: number } };
  if (data?.totalSuccessful !== items) throw new Error(`round ${round}: ${answer.status}`);
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

const bare: number[] = [];
const plain: number[] = [];
const keyed: number[] = [];
for (let round = 0; round < rounds; round += 1) {
  const batch = ids.slice(round * items, (round + 1) * items);
  await sql`delete from bulk_allowance`.execute(db);
  const ways: [figures: number[], work: () => Promise<void>][] = [
    [bare, () => bareUpdate(batch, round)],
    [plain, () => bulkUpdate(batch, round, null)],
    [keyed, () => bulkUpdate(batch, round, `round-${round}`)],
  ];
  // Recently changed rows cost more, so the order rotates.
  for (let turn = 0; turn < ways.length; turn += 1) {
    const [figures, work] = ways[(round + turn) % ways.length] ?? [[], async () => undefined];
    const ms = await timed(work);
    if (round >= warmUps) figures.push(ms);
  }
}

const ratio = median(plain) / median(bare);
const keyedRatio = median(keyed) / median(bare);
report([
  { what: 'bare UPDATE of 100 rows, median', figure: `${median(bare).toFixed(1)} ms` },
  { what: 'bulk update of 100 items, median', figure: `${median(plain).toFixed(1)} ms` },
  { what: 'with an Idempotency-Key, median', figure: `${median(keyed).toFixed(1)} ms` },
  { what: 'ratio', figure: `${ratio.toFixed(2)}×`, limit: '≤ 2×', kept: ratio <= 2 },
  {
    what: 'ratio with an Idempotency-Key',
    figure: `${keyedRatio.toFixed(2)}×`,
    limit: '≤ 2×',
    kept: keyedRatio <= 2,
  },
]);
