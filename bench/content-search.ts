/**
 * What do lists cost in a catalogue of 100,000 items? Measures a word that occurs in one item, a
 * word that occurs in all, and a page of everything while items change. Figures are CPU times of
 * the service and its database, which vary less on a busy machine than wall time.
 */
import { readFile } from 'node:fs/promises';
import { sql } from 'kysely';
import { insertReadyItems } from './lib/catalogue.ts';
import { median, report } from './lib/report.ts';
import { startBenchService } from './lib/service.ts';

const items = 100_000;
const rounds = 15;
const mostRareMs = 100;

await using service = await startBenchService({ REELFEED_ROLES: 'api' });
const { db } = service.database;
await insertReadyItems(db, 1, items);
await sql`
  update content set description = 'The only xylophone, in 東京の夜景' where title = 'Clip number 77777'
`.execute(db);
await sql`vacuum analyze content`.execute(db);

const headers = { authorization: `Bearer ${service.secretKey}` };
type Page = { data: { id: string; title: string }[]; meta: { total: number } };

async function list(query: string): Promise<Page> {
  const answer = await fetch(`${service.url}/v1/content?limit=20${query}`, { headers });
  if (answer.status !== 200) throw new Error(await answer.text());
  return (await answer.json()) as Page;
}

/** CPU milliseconds used so far by the service and every process of its database. */
async function cpuMs(): Promise<number> {
  const { rows } = await sql<{
    pid: number;
  }>`select pid from pg_stat_activity where pid is not null`.execute(db);
  let ticks = 0;
  for (const pid of [service.pid, ...rows.map((row) => row.pid)]) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
    if (stat === null) continue;
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    ticks += Number(fields[11]) + Number(fields[12]);
  }
  return ticks * 10;
}

type Cost = { wallMs: number; cpuMs: number; total: number };

/** The median wall time and mean CPU time of a request; `before` runs before each. */
async function costOf(
  query: string,
  before: () => Promise<unknown> = async () => null,
): Promise<Cost> {
  const walls: number[] = [];
  let total = 0;
  let beforeMs = 0;
  await list(query);
  for (let round = 0; round < rounds; round += 1) {
    const from = await cpuMs();
    await before();
    beforeMs += (await cpuMs()) - from;
  }
  const startedAt = await cpuMs();
  for (let round = 0; round < rounds; round += 1) {
    await before();
    const from = performance.now();
    total = (await list(query)).meta.total;
    walls.push(performance.now() - from);
  }
  return { wallMs: median(walls), cpuMs: ((await cpuMs()) - startedAt - beforeMs) / rounds, total };
}

const { data } = await list('');
let edits = 0;
/** Edits directly in the database, which is cheapest. */
const edit = () =>
  sql`update content set author = ${`editor-${(edits += 1)}`} where content_id = ${data[edits % 20]?.id}::uuid`.execute(
    db,
  );

const rare = await costOf('&search=xylophone', edit);
const inside = await costOf(`&search=${encodeURIComponent('夜景')}`, edit);
const common = await costOf('&search=clip', edit);
const narrowed = await costOf('&search=77777%20clip', edit);
const everything = await costOf('');
const edited = await costOf('', edit);
const tagged = await costOf('&tags=tag-3', edit);
const published = await costOf('&contentType=video&publishStatus=published', edit);

const show = ({ wallMs, cpuMs: cpu, total }: Cost): string =>
  `${wallMs.toFixed(0)} ms, ${cpu.toFixed(1)} CPU-ms (${total} items)`;
report([
  {
    what: 'a word of one item, after an edit',
    figure: show(rare),
    limit: `≤ ${mostRareMs} CPU-ms`,
    kept: rare.cpuMs <= mostRareMs,
  },
  { what: 'inside Japanese text, after an edit', figure: show(inside) },
  { what: 'a word of all items, after an edit', figure: show(common) },
  { what: 'a rare and a common word, after an edit', figure: show(narrowed) },
  { what: 'everything, unchanged', figure: show(everything) },
  { what: 'everything, after an edit', figure: show(edited) },
  { what: 'a tag, after an edit', figure: show(tagged) },
  { what: 'published videos, after an edit', figure: show(published) },
]);
