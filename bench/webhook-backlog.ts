/**
 * Does a backlog of 100,000 deliveries drain at a steady rate and with flat memory? One process
 * sends for ten webhooks of one receiver; compares the rate of the last quarter with that of the
 * second one.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { report } from './lib/report.ts';
import { startBenchService } from './lib/service.ts';
import { fillLine, registerWebhooks, startBenchReceiver, waitForCount } from './lib/webhooks.ts';

const backlog = 100_000;
/** The heap of the process first grows to its steady size. */
const warmUp = 40_000;

await using receiver = await startBenchReceiver();
await using service = await startBenchService(receiver.env);
const webhookIds = await registerWebhooks(service, receiver.url, 10);
await fillLine(service.database.db, webhookIds, warmUp);
await waitForCount(receiver, warmUp);
const before = await residentMegabytes();

await fillLine(service.database.db, webhookIds, backlog);
const samples: { at: number; count: number; megabytes: number }[] = [];
let count = 0;
while (count < backlog) {
  count = (await receiver.count()).count - warmUp;
  samples.push({ at: performance.now(), count, megabytes: await residentMegabytes() });
  await delay(100);
}

/** Deliveries per second between two fractions of the backlog. */
function rateBetween(from: number, to: number): number {
  const start = samples.find((sample) => sample.count >= backlog * from);
  const end = samples.find((sample) => sample.count >= backlog * to);
  if (start === undefined || end === undefined) return Number.NaN;
  return ((end.count - start.count) / (end.at - start.at)) * 1_000;
}

async function residentMegabytes(): Promise<number> {
  const status = readFileSync(`/proc/${service.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) / 1_024;
}

/** The mean resident memory between two fractions of the backlog, in megabytes. */
function memoryBetween(from: number, to: number): number {
  const within = samples.filter(({ count }) => count >= backlog * from && count <= backlog * to);
  return within.reduce((sum, { megabytes }) => sum + megabytes, 0) / within.length;
}

const steadiness = rateBetween(0.75, 1) / rateBetween(0.25, 0.5);
const growth = memoryBetween(0.75, 1) - memoryBetween(0.25, 0.5);
const most = Math.max(...samples.map(({ megabytes }) => megabytes));
const repeated = (await receiver.count()).count - warmUp - backlog;

report([
  { what: 'deliveries/s', figure: rateBetween(0, 1).toFixed(0) },
  { what: 'second quarter', figure: `${rateBetween(0.25, 0.5).toFixed(0)}/s` },
  {
    what: 'last quarter ÷ second quarter',
    figure: steadiness.toFixed(2),
    limit: '≥ 0.80',
    kept: steadiness >= 0.8,
  },
  {
    what: 'resident memory, last − second quarter',
    figure: `${growth.toFixed(0)} MB`,
    limit: '≤ 32 MB',
    kept: growth <= 32,
  },
  {
    what: 'resident memory: initial, maximum',
    figure: `${before.toFixed(0)}, ${most.toFixed(0)} MB`,
  },
  { what: 'deliveries received twice', figure: String(repeated), kept: repeated === 0 },
]);
