/**
 * How long does a bulk job over 100,000 items take, and how does it affect the feed? Reports the
 * duration as a ratio to one bare SQL UPDATE of the same rows before and after it, the feed's p99
 * at a fixed rate during the job as a ratio to the same rate without it, and the service's resident
 * memory.
 */
import { readFile } from 'node:fs/promises';
import { sql } from 'kysely';
import { insertReadyItems } from './lib/catalogue.ts';
import { load } from './lib/load.ts';
import { median, report } from './lib/report.ts';
import { startBenchService } from './lib/service.ts';

const items = 100_000;
const feedPerSecond = 100;
/** With fewer pages, the 99th percentile would be the second-worst page. */
const feedSeconds = 6;
await using service = await startBenchService();
const { db } = service.database;
await insertReadyItems(db, 1, items);

async function bareUpdateMs(tag: string): Promise<number> {
  const startedAt = performance.now();
  await sql`update content set tags = tags || ${tag}::text, revision = revision + 1,
    updated_at = clock_timestamp() where tags @> array['all']`.execute(db);
  const ms = performance.now() - startedAt;
  await tidyUp();
  return ms;
}

/** Ensures that no run pays for the leftovers of the previous one. */
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

async function createJob(tag: string): Promise<string> {
  const { jobId } = await call<Job>('POST', '/v1/content/bulk/jobs', {
    operation: 'tag',
    filter: { tags: ['all'] },
    update: { addTags: [tag] },
  });
  return jobId;
}

async function runJob(tag: string) {
  const jobId = await createJob(tag);
  const memoryMb: number[] = [];
  let job: Job;
  do {
    await new Promise((resolve) => setTimeout(resolve, 200));
    memoryMb.push(await residentMb());
    job = await call<Job>('GET', `/v1/content/bulk/jobs/${jobId}`);
  } while (job.status === 'processing');
  if (job.successfulItems !== items) throw new Error(JSON.stringify(job));
  return { ms: Date.parse(job.completedAt) - Date.parse(job.createdAt), memoryMb };
}

async function readFeed(): Promise<number> {
  const url = `${service.url}/v1/feed?limit=20`;
  const { publishableKey: key } = service;
  const reading = { url, key, connections: 16, seconds: feedSeconds, perSecond: feedPerSecond };
  const { p99Ms, failures } = await load(reading);
  if (failures > 0) throw new Error(`${failures} requests for the feed failed`);
  return p99Ms;
}

const before = await bareUpdateMs('bare-1');
// The feed is not read yet, because its index would grow and shrink with every changed item.
const job = await runJob('job');
await tidyUp();
const after = await bareUpdateMs('bare-2');

await readFeed();
const idle: number[] = [];
const busy: number[] = [];
for (let round = 0; round < 5; round += 1) {
  idle.push(await readFeed());
  const jobId = await createJob(`round-${round}`);
  busy.push(await readFeed());
  await call('POST', `/v1/content/bulk/jobs/${jobId}/cancel`);
}

const bare = (before + after) / 2;
const ratio = job.ms / bare;
const settled = job.memoryMb.slice(Math.floor(job.memoryMb.length / 5));
const spreadMb = Math.max(...settled) - Math.min(...settled);
const feedRatio = median(busy) / median(idle);
report([
  {
    what: 'bare UPDATE of 100,000 rows, before and after',
    figure: `${(before / 1_000).toFixed(1)} s, ${(after / 1_000).toFixed(1)} s`,
  },
  { what: 'bulk job over 100,000 items', figure: `${(job.ms / 1_000).toFixed(1)} s` },
  { what: 'ratio', figure: `${ratio.toFixed(2)}×`, limit: '≤ 3×', kept: ratio <= 3 },
  {
    what: 'resident memory of the service meanwhile',
    figure: `${Math.min(...settled).toFixed(0)} to ${Math.max(...settled).toFixed(0)} MB`,
    limit: '±20 MB',
    kept: spreadMb <= 40,
  },
  { what: 'feed p99 without a job', figure: `${idle.join(' ')}, median ${median(idle)} ms` },
  { what: 'feed p99 while a job runs', figure: `${busy.join(' ')}, median ${median(busy)} ms` },
  { what: 'ratio', figure: `${feedRatio.toFixed(2)}×`, limit: '≤ 2×', kept: feedRatio <= 2 },
]);
