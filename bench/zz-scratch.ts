import { sql } from 'kysely';
import { insertReadyItems } from './lib/catalogue.ts';
import { median } from './lib/report.ts';
import { startBenchService } from './lib/service.ts';
import { inTransaction } from '../server/src/platform/database/database.ts';
import { updateItems } from '../server/src/features/bulk/bulk.ts';
await using service = await startBenchService();
const { db } = service.database;
await insertReadyItems(db, 1, 20_000);
const { rows } = await sql<any>`select content_id, organization_id from content order by random() limit 6000`.execute(db);
const org = rows[0].organization_id;
const t = async (f: any) => { const s = performance.now(); await f(); return performance.now() - s; };
const bare: number[] = [], ours: number[] = [], lock: number[] = [];
for (let r = 0; r < 60; r++) {
  const b = rows.slice(r * 100, r * 100 + 100).map((x: any) => x.content_id);
  await sql`delete from bulk_allowance`.execute(db);
  bare.push(await t(() => sql`update content set title = given.title, visibility = 'public', tags = array['all', 'bench'],
      revision = revision + 1, updated_at = clock_timestamp()
    from unnest(${b}::uuid[], ${b.map((_: any, n: number) => 'Title ' + n)}::text[]) as given (content_id, title)
    where organization_id = ${org} and content.content_id = given.content_id`.execute(db)));
  ours.push(await t(() => inTransaction(db, (tx) => updateItems(tx, org, { items: b.map((id: string, n: number) => ({ id, title: `T ${n}`, visibility: 'public', tags: ['all', 'bench'] })) }))));
  lock.push(await t(() => inTransaction(db, async (tx) => { await sql`select content_id from content where organization_id = ${org} and content_id = any(${b}::uuid[]) order by content_id for update`.execute(tx); })));
}
console.log('bare', median(bare), 'ours', median(ours), 'lock only', median(lock));
console.log('bare', bare.toSorted((a, b) => a - b).slice(0, 5), 'ours', ours.toSorted((a, b) => a - b).slice(0, 5));
