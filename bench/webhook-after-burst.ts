/**
 * Are deliveries just as fast right after a burst? Measures the time from the commit of an event to
 * its arrival, before and right after 120,000 deliveries of one webhook; the sender runs in this
 * process.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { cause } from '../server/test/webhooks/webhooks.ts';
import { webhookDeliveries } from '../server/src/features/webhooks/webhooks.ts';
import { report } from './lib/report.ts';
import { startBenchService } from './lib/service.ts';
import {
  fillLine,
  registerWebhooks,
  startBenchReceiver,
  startBenchSender,
  waitForCount,
} from './lib/webhooks.ts';

const burst = 120_000;
const measured = 200;
const warmUp = 20;
const pauseMs = 25;
const maxMs = 3;

await using receiver = await startBenchReceiver();
await receiver.keepArrivals();
await using service = await startBenchService({ ...receiver.env, REELFEED_ROLES: 'api' });
const { db } = service.database;
const webhookIds = await registerWebhooks(service, receiver.url, 1);
await using sending = await startBenchSender(service, receiver);
const { hints, organizationId } = sending;

/** Milliseconds from each commit to its arrival, ascending. */
async function measureLags(name: string): Promise<number[]> {
  const committedAt = new Map<string, number>();
  for (let n = -warmUp; n < measured; n += 1) {
    await cause(db, organizationId, `${name} ${n}`);
    if (n >= 0) committedAt.set(`${name} ${n}`, performance.timeOrigin + performance.now());
    hints.give(webhookDeliveries);
    await delay(pauseMs);
  }
  const arrivedAt = new Map<string, number>();
  while ([...committedAt.keys()].some((title) => !arrivedAt.has(title))) {
    for (const [title, at] of await receiver.arrivals()) arrivedAt.set(title, at);
    await delay(50);
  }
  return Array.from(
    committedAt,
    ([title, at]) => (arrivedAt.get(title) ?? Number.NaN) - at,
  ).toSorted((a, b) => a - b);
}

const at = (lags: readonly number[], share: number) =>
  lags[Math.floor((lags.length - 1) * share)] ?? Number.NaN;
const shown = (lags: readonly number[]) =>
  `${at(lags, 0.5).toFixed(1)}, ${at(lags, 0.99).toFixed(1)} ms`;

const before = await measureLags('before');
const { count } = await receiver.count();
const startedAt = performance.now();
await fillLine(db, webhookIds, burst);
hints.give(webhookDeliveries);
await waitForCount(receiver, count + burst);
const seconds = (performance.now() - startedAt) / 1_000;
const after = await measureLags('after');
report([
  {
    what: 'deliveries/s of the burst, including their commit',
    figure: (burst / seconds).toFixed(0),
  },
  { what: 'before: p50, p99', figure: shown(before) },
  {
    what: 'right after: p50, p99',
    figure: shown(after),
    limit: `p50 ≤ ${maxMs} ms`,
    kept: at(after, 0.5) <= maxMs,
  },
]);
