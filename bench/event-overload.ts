/**
 * What does a flood of events at five times the capacity do? For a minute, 260 connections send
 * batches of 100 events, and wait for 30 ms where they are told to wait for a second. What must hold:
 * refusals say when to come back, nothing that was acknowledged is missing, the feed goes on, and
 * memory stays flat.
 *
 * BENCH_CONNECTIONS=<n> and BENCH_SECONDS=<n> make another flood.
 */
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { insertReadyItems } from './lib/catalogue.ts';
import { loadEvents } from './lib/event-load.ts';
import { report } from './lib/report.ts';
import { startBenchService } from './lib/service.ts';

const connections = Number(process.env['BENCH_CONNECTIONS'] ?? 260);
const seconds = Number(process.env['BENCH_SECONDS'] ?? 60);
const eventsInBatch = 100;
const pauseAfterRefusalMs = 30;
const itemsWatched = 200;

await using service = await startBenchService();
const { db } = service.database;
await insertReadyItems(db, 1, 1_000);
const { rows } = await sql<{ content_id: string }>`
  select content_id from content limit ${itemsWatched}`.execute(db);

await delay(4_000);
const idleMb = await memoryMb();
const flood = loadEvents({
  url: service.url,
  path: '/v1/events/batch',
  key: service.publishableKey,
  contentIds: rows.map((row) => row.content_id),
  eventsInBatch,
  connections,
  seconds,
  pauseAfterRefusalMs,
});
const ended = new AbortController();
const watched = Promise.all([watchMemory(), watchFeed()]);
const { stored, refused, failed } = await flood;
ended.abort();
const [memory, feed] = await watched;
const { rows: logged } = await sql<{ events: string }>`
  select coalesce(sum(event_count), 0) as events from event_block`.execute(db);
const lost = stored * eventsInBatch - Number(logged[0]?.events ?? 0);
const floodRatio = (stored + refused + failed) / stored;
const grownMb = Math.max(...memory) - idleMb;
const at = (share: number) => feed.tookMs[Math.floor((feed.tookMs.length - 1) * share)] ?? Infinity;

report([
  { what: 'events stored/s', figure: ((stored * eventsInBatch) / seconds).toFixed(0) },
  {
    what: 'requests, as a multiple of those stored',
    figure: floodRatio.toFixed(1),
    limit: '≥ 5',
    kept: floodRatio >= 5,
  },
  {
    what: 'neither stored nor refused with Retry-After',
    figure: String(failed),
    limit: '0',
    kept: failed === 0,
  },
  { what: 'acknowledged and lost', figure: String(lost), limit: '0', kept: lost === 0 },
  { what: 'memory when idle', figure: `${idleMb.toFixed(0)} MB` },
  {
    what: 'most memory beyond that',
    figure: `${grownMb.toFixed(0)} MB`,
    limit: '≤ 200 MB',
    kept: grownMb <= 200,
  },
  { what: 'feed page p50, p99', figure: `${at(0.5).toFixed(0)}, ${at(0.99).toFixed(0)} ms` },
  {
    what: 'feed pages that failed',
    figure: String(feed.failed),
    limit: '0',
    kept: feed.failed === 0,
  },
]);

/** Memory of the service's process that is in use, in megabytes; the database is not in it. */
async function memoryMb(): Promise<number> {
  const status = await readFile(`/proc/${service.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? Number.NaN) / 1_024;
}

async function watchMemory(): Promise<number[]> {
  const samples: number[] = [];
  while (!ended.signal.aborted) {
    samples.push(await memoryMb());
    await delay(250);
  }
  return samples;
}

/** @returns how long each page took, the fastest first */
async function watchFeed(): Promise<{ tookMs: number[]; failed: number }> {
  const tookMs: number[] = [];
  let failed = 0;
  while (!ended.signal.aborted) {
    const startedAt = performance.now();
    const answer = await fetch(`${service.url}/v1/feed?limit=10`, {
      headers: { authorization: `Bearer ${service.publishableKey}` },
    }).catch(() => null);
    await answer?.arrayBuffer();
    if (answer?.status !== 200) failed += 1;
    tookMs.push(performance.now() - startedAt);
    await delay(100);
  }
  return { tookMs: tookMs.toSorted((a, b) => a - b), failed };
}
