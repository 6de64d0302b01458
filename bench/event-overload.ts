/**
 * What does a flood of events at five times the capacity do? For a minute, 260 connections send
 * batches of 100 events and wait only 30 ms when told to wait a second. Checks that rejections
 * contain Retry-After, that nothing acknowledged is lost, that the feed keeps working, and that
 * memory stays flat. Then repeats this next to 300 phones whose bodies trickle in and three
 * connections that send only headers.
 *
 * BENCH_CONNECTIONS=<n> and BENCH_SECONDS=<n> change the flood.
 */
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { insertReadyItems } from './lib/catalogue.ts';
import { loadEvents } from './lib/event-load.ts';
import { report, type Row } from './lib/report.ts';
import { startBenchService } from './lib/service.ts';
import { openSlowBodies } from './lib/slow-bodies.ts';

const connections = Number(process.env['BENCH_CONNECTIONS'] ?? 260);
const seconds = Number(process.env['BENCH_SECONDS'] ?? 60);
const eventsInBatch = 100;
const pauseAfterRefusalMs = 30;
const itemsWatched = 200;
const slowBodies = { slow: 300, silent: 3 };

await using service = await startBenchService();
const { db } = service.database;
await insertReadyItems(db, 1, 1_000);
const { rows } = await sql<{ content_id: string }>`
  select content_id from content limit ${itemsWatched}`.execute(db);

await delay(4_000);
const idleMb = await memoryMb();
/** The event log may contain events of an earlier flood. */
let loggedBefore = 0;
report([...(await flood('alone', { slow: 0, silent: 0 })), ...(await flood('beside', slowBodies))]);

async function flood(label: string, besides: typeof slowBodies): Promise<Row[]> {
  const { url, publishableKey: key } = service;
  await using slow = await openSlowBodies({ url, key, ...besides });
  const ended = new AbortController();
  const watched = Promise.all([watchMemory(ended.signal), watchFeed(ended.signal)]);
  const { stored, refused, failed } = await loadEvents({
    url,
    path: '/v1/events/batch',
    key,
    contentIds: rows.map((row) => row.content_id),
    eventsInBatch,
    connections,
    seconds,
    pauseAfterRefusalMs,
  });
  const stillSlow = slow.open();
  ended.abort();
  const [memory, feed] = await watched;
  const logged = await countLogged();
  const lost = stored * eventsInBatch - (logged - loggedBefore);
  loggedBefore = logged;
  const floodRatio = (stored + refused + failed) / stored;
  const grownMb = Math.max(...memory) - idleMb;
  const at = (share: number) =>
    feed.tookMs[Math.floor((feed.tookMs.length - 1) * share)] ?? Infinity;
  return [
    { what: `${label}: slow bodies open`, figure: String(stillSlow) },
    {
      what: `${label}: events stored/s`,
      figure: ((stored * eventsInBatch) / seconds).toFixed(0),
    },
    {
      what: `${label}: requests as a multiple of those stored`,
      figure: floodRatio.toFixed(1),
      limit: '≥ 5',
      kept: floodRatio >= 5,
    },
    {
      what: `${label}: neither stored nor rejected with Retry-After`,
      figure: String(failed),
      limit: '0',
      kept: failed === 0,
    },
    {
      what: `${label}: acknowledged but lost`,
      figure: String(lost),
      limit: '0',
      kept: lost === 0,
    },
    { what: `${label}: memory when idle`, figure: `${idleMb.toFixed(0)} MB` },
    {
      what: `${label}: maximum memory above that`,
      figure: `${grownMb.toFixed(0)} MB`,
      limit: '≤ 200 MB',
      kept: grownMb <= 200,
    },
    {
      what: `${label}: feed page p50, p99`,
      figure: `${at(0.5).toFixed(0)}, ${at(0.99).toFixed(0)} ms`,
    },
    {
      what: `${label}: failed feed pages`,
      figure: String(feed.failed),
      limit: '0',
      kept: feed.failed === 0,
    },
  ];
}

async function countLogged(): Promise<number> {
  const { rows: logged } = await sql<{ events: string }>`
    select coalesce(sum(event_count), 0) as events from event_block`.execute(db);
  return Number(logged[0]?.events ?? 0);
}

/** Resident memory of the service's process in megabytes, without the database. */
async function memoryMb(): Promise<number> {
  const status = await readFile(`/proc/${service.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? Number.NaN) / 1_024;
}

async function watchMemory(signal: AbortSignal): Promise<number[]> {
  const samples: number[] = [];
  while (!signal.aborted) {
    samples.push(await memoryMb());
    await delay(250);
  }
  return samples;
}

/** @returns the duration of each page, ascending */
async function watchFeed(signal: AbortSignal): Promise<{ tookMs: number[]; failed: number }> {
  const tookMs: number[] = [];
  let failed = 0;
  while (!signal.aborted) {
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
