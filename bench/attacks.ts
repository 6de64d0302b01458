/**
 * How does an attack by one client affect another organization, and how much memory does it cost?
 * During each attack, a busy feed is read with the key of an uninvolved organization. `node
 * bench/attacks.ts segments` runs the attacks whose name contains this word.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createOrganization } from '../server/src/features/organizations/organizations.ts';
import { inTransaction } from '../server/src/platform/database/database.ts';
import { attackNames, startAttack, type Target } from './lib/attacker.ts';
import { insertReadyItems } from './lib/catalogue.ts';
import { pagesPerSecond, readFeed } from './lib/read-feed.ts';
import { report, type Row } from './lib/report.ts';
import { startBenchService } from './lib/service.ts';

const maxSlowdown = 2;
const maxAddedMegabytes = 256;
/** Latencies are whole milliseconds; ratios below this baseline are meaningless. */
const smallestBaselineMs = 5;
const baselineSeconds = 4;
const seconds = 8;
const segment = '/media/bench00000000000000001/000000000000/720/0.m4s';
const segmentBytes = 200 * 1024;

const wanted = process.argv.slice(2);
const names = attackNames.filter(
  (name) => wanted.length === 0 || wanted.some((part) => name.includes(part)),
);
await using service = await startBenchService({ REELFEED_RTMP_PORT: '0' });
await insertReadyItems(service.database.db, 1, 1_000);
const file = path.join(service.dataDir, 'media/objects', segment);
await mkdir(path.dirname(file), { recursive: true });
await writeFile(file, Buffer.alloc(segmentBytes, 'segment'));
const attacker = await inTransaction(service.database.db, (tx) =>
  createOrganization(tx, 'Attacker'),
);
const target: Target = {
  url: service.url,
  secretKey: attacker.secretKey ?? '',
  publishableKey: attacker.publishableKey ?? '',
  segment,
};

// These are generated on the first request.
for (const asked of ['/openapi.json', '/docs/scalar.js', segment]) {
  const answer = await fetch(service.url + asked);
  if (!answer.ok) throw new Error(`${asked} returned status ${answer.status}`);
}
await readFeed(service, 3);
const rows: Row[] = [];
for (const name of names) {
  const idle = await readFeed(service, baselineSeconds);
  const before = await residentMegabytes();
  let most = before;
  const watch = setInterval(() => {
    void residentMegabytes().then((now) => (most = Math.max(most, now)));
  }, 100);
  const attack = startAttack(name, target);
  const during = await readFeed(service, seconds);
  await attack[Symbol.asyncDispose]();
  clearInterval(watch);
  const ratio =
    Math.max(smallestBaselineMs, during.p99Ms) / Math.max(smallestBaselineMs, idle.p99Ms);
  const added = most - before;
  rows.push({
    what: `p99 of ${pagesPerSecond} feed pages/s while ${name}`,
    figure: `${idle.p99Ms} → ${during.p99Ms} ms (${ratio.toFixed(1)}×), ${during.failures} failed, +${added} MB`,
    limit: `≤ ${maxSlowdown}×, 0 failed, +${maxAddedMegabytes} MB`,
    kept: ratio <= maxSlowdown && during.failures === 0 && added <= maxAddedMegabytes,
  });
  await calm();
}
report(rows);

async function residentMegabytes(): Promise<number> {
  const status = await readFile(`/proc/${service.pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024);
}

/** Waits until the service is idle, so that one attack does not affect the figures of the next. */
async function calm(): Promise<void> {
  for (let quick = 0; quick < 5;) {
    const startedAt = performance.now();
    const answer = await fetch(`${service.url}/v1/feed`, {
      headers: { authorization: `Bearer ${service.publishableKey}` },
    }).catch(() => null);
    quick = answer?.ok && performance.now() - startedAt < 100 ? quick + 1 : 0;
    await delay(100);
  }
}
