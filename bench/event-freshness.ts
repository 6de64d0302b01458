/**
 * How long does it take from sending an event until a report shows it, while events come at half the
 * rate that the service can take in and count, and ten million views may still go on? The states of
 * those views are written into the table by the database itself.
 *
 * BENCH_STATES=<count> of view states; BENCH_SECONDS=<seconds> of traffic at half the rate.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { Pool } from 'undici';
import { insertReadyItems } from './lib/catalogue.ts';
import { eventBlocks } from './lib/event-traffic.ts';
import { report } from './lib/report.ts';
import { startBenchService } from './lib/service.ts';

const states = Number(process.env['BENCH_STATES'] ?? 10_000_000);
const seconds = Number(process.env['BENCH_SECONDS'] ?? 30);
const saturatingSeconds = 8;
const batchEvents = 100;
const connections = 16;
const probes = 4;
const maxP99Ms = 1_000;
/** Reports that are asked for more often would take the time that they measure. */
const pollMs = 40;
const statesAtOnce = 250_000;

await using service = await startBenchService();
const { db } = service.database;
await insertReadyItems(db, 1, 1_000 + probes);
const { rows } = await sql<{ content_id: string }>`select content_id from content`.execute(db);
const contentIds = rows.map((row) => row.content_id);
const probeIds = contentIds.splice(0, probes);
const pool = new Pool(service.url, { connections });

/** Batches as they travel, made before anything is measured. */
function makeBodies(batches: number): Buffer[] {
  const endMs = Date.now();
  const total = batches * batchEvents;
  const traffic = { total, blockEvents: batchEvents, sessions: 8_000, contentIds, endMs };
  return [...eventBlocks(traffic)].map((block) => {
    const events = block.map(({ at, ...event }) => ({
      ...event,
      timestamp: new Date(at).toISOString(),
    }));
    return Buffer.from(JSON.stringify({ events }));
  });
}

/** @returns whether the batch was taken in; false when the service is overloaded */
async function post(body: Buffer | string): Promise<boolean> {
  const { statusCode, body: answer } = await pool.request({
    method: 'POST',
    path: '/v1/events/batch',
    headers: {
      authorization: `Bearer ${service.publishableKey}`,
      'content-type': 'application/json',
    },
    body,
  });
  const text = await answer.text();
  if (statusCode === 503) return false;
  if (statusCode !== 200 || !text.includes('"failed":0')) throw new Error(`${statusCode} ${text}`);
  return true;
}

async function sharesOf(contentId: string): Promise<number> {
  const today = new Date().toISOString().slice(0, 10);
  const path = `/v1/analytics/content/${contentId}?startDate=${today}`;
  const answer = await fetch(service.url + path, {
    headers: { authorization: `Bearer ${service.secretKey}` },
  });
  const { data } = (await answer.json()) as { data: { summary: { shares: number } } };
  return data.summary.shares;
}

function share(contentId: string): string {
  const event = { event: 'share', contentId, userId: 'probe', data: { platform: 'bench' } };
  const timestamp = new Date().toISOString();
  return JSON.stringify({ events: [{ ...event, eventId: randomUUID(), timestamp }] });
}

/** How long it takes until a report shows one more event of an item, in milliseconds. */
async function measureOnce(contentId: string): Promise<number> {
  const before = await sharesOf(contentId);
  const startedAt = performance.now();
  while (!(await post(share(contentId)))) await delay(100);
  while ((await sharesOf(contentId)) === before) await delay(pollMs);
  return performance.now() - startedAt;
}

/** Copies of a real state under keys that are spread evenly, as hashes are. */
async function fillStates(): Promise<void> {
  await measureOnce(probeIds[0] ?? '');
  const spread = (2n ** 64n / BigInt(states)).toString();
  await db.connection().execute(async (connection) => {
    await sql`set statement_timeout = 0`.execute(connection);
    const { rows: used } = await sql<{ name: 'view_state_a' | 'view_state_b' | 'view_state_c' }>`
      select 'view_state_a' as name from view_state_a union select 'view_state_b' from view_state_b
      union select 'view_state_c' from view_state_c
    `.execute(connection);
    const table = sql.table(used[0]?.name ?? 'view_state_a');
    for (let first = 0; first < states; first += statesAtOnce) {
      const last = Math.min(first + statesAtOnce, states) - 1;
      await sql`
        insert into ${table} (key, state)
        select int8send((n - ${states}::int8 / 2) * ${spread}::int8) || int8send(n), sample.state
        from (select state from ${table} limit 1) sample, generate_series(${first}::int8, ${last}::int8) n
        on conflict do nothing`.execute(connection);
    }
    await sql`vacuum analyze ${table}`.execute(connection);
  });
}

/** Sends everything as fast as it is taken in. Returns the events that were counted each second. */
async function saturate(): Promise<number> {
  const bodies = makeBodies(Math.ceil((saturatingSeconds * 80_000) / batchEvents));
  const startedAt = performance.now();
  const endsAt = startedAt + saturatingSeconds * 1_000;
  let stored = 0;
  const sendAll = async () => {
    while (performance.now() < endsAt) {
      const body = bodies.pop();
      if (body === undefined) return;
      if (await post(body)) stored += batchEvents;
      else await delay(100);
    }
  };
  await Promise.all(Array.from({ length: connections }, sendAll));
  // This event is behind all others.
  await measureOnce(probeIds[0] ?? '');
  return stored / ((performance.now() - startedAt) / 1_000);
}

/** @returns how many events were refused */
async function sendAt(eventsPerSecond: number): Promise<number> {
  const bodies = makeBodies(Math.ceil((eventsPerSecond * seconds) / batchEvents));
  const startedAt = performance.now();
  let refused = 0;
  const pending = new Set<Promise<void>>();
  for (const [index, body] of bodies.entries()) {
    const dueAt = startedAt + ((index * batchEvents) / eventsPerSecond) * 1_000;
    const early = dueAt - performance.now();
    if (early > 1) await delay(early);
    const sent: Promise<void> = post(body).then((isStored) => {
      if (!isStored) refused += batchEvents;
      pending.delete(sent);
    });
    pending.add(sent);
  }
  await Promise.all(pending);
  return refused;
}

const filledAt = performance.now();
await fillStates();
const fillSeconds = (performance.now() - filledAt) / 1_000;
const saturation = await saturate();

const latencies: number[] = [];
const ended = new AbortController();
const watch = async (contentId: string) => {
  while (!ended.signal.aborted) latencies.push(await measureOnce(contentId));
};
const watching = Promise.all(probeIds.map(watch));
const refused = await sendAt(saturation / 2);
ended.abort();
await watching;
await pool.close();

const sorted = latencies.toSorted((a, b) => a - b);
const at = (part: number) => sorted[Math.floor((sorted.length - 1) * part)] ?? Number.NaN;
report([
  {
    what: 'view states that were prepared',
    figure: `${states.toLocaleString('en')} in ${Math.round(fillSeconds)} s`,
  },
  { what: 'taken in and counted at the most', figure: `${Math.round(saturation)} events/s` },
  { what: 'sent while measuring', figure: `${Math.round(saturation / 2)} events/s` },
  { what: 'events refused meanwhile', figure: String(refused), limit: '0', kept: refused === 0 },
  {
    what: 'from sending to the report, p50',
    figure: `${Math.round(at(0.5))} ms of ${sorted.length}`,
  },
  {
    what: 'from sending to the report, p99',
    figure: `${Math.round(at(0.99))} ms`,
    limit: `≤ ${maxP99Ms} ms`,
    kept: at(0.99) <= maxP99Ms,
  },
]);
