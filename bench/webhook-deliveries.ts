/**
 * How many deliveries a second does one process send to an HTTPS receiver? As a ratio to a bare
 * undici loop that posts the same bodies to the same receiver over 64 connections, the two
 * taken in turn. The deliveries are signed, guarded, claimed and recorded in PostgreSQL. The time
 * runs from the first arrivals on: deliveries that are put in line by SQL wait for the next poll.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { median, report } from './lib/report.ts';
import { startBenchService } from './lib/service.ts';
import {
  benchBody,
  fillLine,
  registerWebhooks,
  startBenchReceiver,
  waitForCount,
} from './lib/webhooks.ts';

const rounds = 5;
const deliveriesEach = 30_000;
const firstArrivals = 500;
const bareSeconds = 2;
const connections = 64;
const posterScript = fileURLToPath(new URL('./lib/bare-poster.ts', import.meta.url));

await using receiver = await startBenchReceiver();
await using service = await startBenchService(receiver.env);
const webhookIds = await registerWebhooks(service, receiver.url, 1);
const bodyFile = path.join(service.dataDir, 'bench-webhook-body.json');
await writeFile(bodyFile, benchBody(webhookIds[0] ?? '', 'A clip of the benchmark'));

async function barePerSecond(): Promise<number> {
  const args = [posterScript, receiver.url, bodyFile, String(connections), String(bareSeconds)];
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], {
    env: { PATH: process.env['PATH'], NODE_EXTRA_CA_CERTS: receiver.caFile },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  await once(child, 'exit');
  return Number(line.toString());
}

async function deliveriesPerSecond(): Promise<number> {
  const { count } = await receiver.count();
  await fillLine(service, webhookIds, deliveriesEach);
  const first = await waitForCount(receiver, count + firstArrivals);
  const last = await waitForCount(receiver, count + deliveriesEach);
  return ((last.count - first.count) / (last.lastAt - first.lastAt)) * 1_000;
}

const bare: number[] = [];
const ours: number[] = [];
for (let round = -1; round < rounds; round += 1) {
  const bareRate = await barePerSecond();
  const rate = await deliveriesPerSecond();
  // In the first round the service compiles its hot paths; a poster does so in its first second.
  if (round < 0) continue;
  bare.push(bareRate);
  ours.push(rate);
}
const ratio = median(ours.map((rate, index) => rate / (bare[index] ?? Number.NaN)));

report([
  { what: 'deliveries/s', figure: median(ours).toFixed(0) },
  { what: 'bare undici posts/s', figure: median(bare).toFixed(0) },
  { what: 'ratio', figure: ratio.toFixed(2), limit: '≥ 0.50', kept: ratio >= 0.5 },
]);
