/**
 * How long does a bulk job over 100,000 items take, and what does it do to the feed? As a ratio to
 * one bare SQL UPDATE of the same rows, taken before and after it; the feed's p99 at a fixed rate
 * while the job runs as a ratio to the same rate without it; resident memory of the service.
 */
import { readFile } from 'node:fs/promises';
import { sql } from 'kysely';
import { insertReadyItems } from './lib/catalogue.ts';
import { load } from './lib/load.ts';
import { report } from './lib/report.ts';
import { startBenchService } from './lib/service.ts';

const items = 100_000;
const feedPerSecond = 60;
await using service = await startBenchService();
const { db } = service.database;
for (let from = 1; from <= items; from += 20_000) await insertReadyItems(db, from, from + 19_999);

async function bareUpdateMs(tag: string): Promise<number> {
  const startedAt = performance.now();
  await sql`update content set tags = tags || ${tag}::text, revision = revision + 1,
    updated_at = clock_timestamp() where tags @> array['all']`.execute(db);
  const ms = performance.now() - startedAt;
  await tidyUp();
  return ms;
}

/** So that none pays for what the one before it has left to do. */
async function tidyUp(): Promise<void> {
  await sql`vacuum analyze content`.execute(db);
  await sql`checkpoint`.execute(db);
}

async function call<T>(method: string, path: string, body?: object): Promise<T> {
  const answer = await fetch(`${service.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${service.secretKey}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const { data } = (await answer.json()) as { data: T };
  return data;
}

type Job = {
  jobId: string;
  status: string;
  successfulItems: number;
  completedAt: string;
  createdAt: string;
};

async function residentMb(): Promise<number> {
  const status = await readFile(`/proc/${service.pid}/status`, 'utf8').catch(() => '');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024;
}

function feed(seconds: number) {
  const url = `${service.url}/v1/feed?limit=20`;
  return load({
    url,
    key: service.publishableKey,
    connections: 4,
    seconds,
    perSecond: feedPerSecond,
  });
}

/** Runs a job to its end, with readers of the feed beside it when `seconds` is not 0. */
async function runJob(tag: string, seconds: number) {
  const { jobId } = await call<Job>('POST', '/v1/content/bulk/jobs', {
    operation: 'tag',
    filter: { tags: ['all'] },
    update: { addTags: [tag] },
  });
  const reading = seconds === 0 ? null : feed(seconds);
  const memoryMb: number[] = [];
  let job: Job;
  do {
    await new Promise((resolve) => setTimeout(resolve, 200));
    memoryMb.push(await residentMb());
    job = await call<Job>('GET', `/v1/content/bulk/jobs/${jobId}`);
  } while (job.status === 'processing');
  if (job.successfulItems !== items) throw new Error(JSON.stringify(job));
  const ms = Date.parse(job.completedAt) - Date.parse(job.createdAt);
  return { ms, memoryMb, feed: reading === null ? null : await reading };
}

const before = await bareUpdateMs('bare-1');
// Nobody reads the feed yet: its index would grow and shrink with every changed item.
const job = await runJob('job-1', 0);
await tidyUp();
const after = await bareUpdateMs('bare-2');
await feed(2);
const idle = await feed(6);
const busy = (await runJob('job-2', 8)).feed;
const idleAgain = await feed(6);

const bare = (before + after) / 2;
const ratio = job.ms / bare;
const settled = job.memoryMb.slice(Math.floor(job.memoryMb.length / 5));
const spreadMb = Math.max(...settled) - Math.min(...settled);
const idleP99 = (idle.p99Ms + idleAgain.p99Ms) / 2;
const feedRatio = (busy?.p99Ms ?? Number.NaN) / idleP99;
report([
  {
    what: 'bare UPDATE of 100,000 rows, before and after',
    figure: `${(before / 1_000).toFixed(1)} s, ${(after / 1_000).toFixed(1)} s`,
  },
  { what: 'bulk job over 100,000 items', figure: `${(job.ms / 1_000).toFixed(1)} s` },
  { what: 'ratio', figure: `${ratio.toFixed(2)}×`, limit: '≤ 3×', kept: ratio <= 3 },
  {
    what: 'resident memory of the service while it ran',
    figure: `${Math.min(...settled).toFixed(0)} to ${Math.max(...settled).toFixed(0)} MB`,
    limit: '±20 MB',
    kept: spreadMb <= 40,
  },
  {
    what: 'feed p99 without a job, before and after',
    figure: `${idle.p99Ms} ms, ${idleAgain.p99Ms} ms`,
  },
  { what: 'feed p99 while a job runs', figure: `${busy?.p99Ms} ms` },
  { what: 'ratio', figure: `${feedRatio.toFixed(2)}×`, limit: '≤ 2×', kept: feedRatio <= 2 },
  {
    what: 'failed feed requests',
    figure: String(idle.failures + idleAgain.failures + (busy?.failures ?? 0)),
  },
]);
