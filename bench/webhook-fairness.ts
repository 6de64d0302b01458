/**
 * Does a receiver that hangs slow the others down? The time from the commit of an event to its
 * arrival at each of fifty healthy receivers, without and beside one that never answers and has
 * 5,000 deliveries in line; the sender runs in this process, as in `webhook-latency`.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { createWebhook } from '../server/src/features/webhooks/registrations.ts';
import { cause } from '../server/src/features/webhooks/webhooks.fixture.ts';
import { webhookDeliveries } from '../server/src/features/webhooks/webhooks.ts';
import { inTransaction } from '../server/src/platform/database/database.ts';
import { newTypeId } from '../server/src/platform/ids.ts';
import { report } from './lib/report.ts';
import {
  fillLine,
  registerWebhooks,
  startBenchReceiver,
  startBenchSender,
  waitForCount,
} from './lib/webhooks.ts';
import { startBenchService } from './lib/service.ts';

const healthy = 50;
const inLine = 5_000;
const rounds = 30;

await using receiver = await startBenchReceiver({ keepsArrivals: true });
await using service = await startBenchService({ ...receiver.env, REELFEED_ROLES: 'api' });
const { db } = service.database;
const healthyIds = await registerWebhooks(service, receiver.url, healthy);
await using sending = await startBenchSender(service, receiver);
const { sender, wakeups, organizationId, vault } = sending;
const hangingId = await registerHanging();

/** In another organization: one may have fifty. */
async function registerHanging(): Promise<string> {
  const other = newTypeId('org');
  await db.insertInto('organization').values({ organization_id: other, name: 'Hanging' }).execute();
  const request = { url: receiver.hangingUrl, events: ['content.ready'], description: null };
  const { webhookId } = await inTransaction(db, (tx) => createWebhook(tx, vault, other, request));
  return webhookId;
}

/** Milliseconds from each commit to each of its arrivals, in order. */
async function measureLags(): Promise<number[]> {
  const lags: number[] = [];
  // The first rounds open the connections, which a pause has closed.
  for (let round = -5; round < rounds; round += 1) {
    const before = (await receiver.count()).count;
    await cause(db, organizationId, String(round));
    const committedAt = performance.timeOrigin + performance.now();
    wakeups.nudge(webhookDeliveries);
    await waitForCount(receiver, before + healthyIds.length);
    const arrivals = await receiver.arrivals();
    if (round >= 0) lags.push(...arrivals.map(([, at]) => at - committedAt));
  }
  return lags.toSorted((a, b) => a - b);
}

const at = (lags: readonly number[], share: number) =>
  lags[Math.floor((lags.length - 1) * share)] ?? Number.NaN;

const before = await measureLags();
await fillLine(service, [hangingId], inLine);
wakeups.nudge(webhookDeliveries);
// Until its sends are old enough to count as slow; before that they hold eight slots of all.
await delay(3_000);
const hung = sender.underWay();
const beside = await measureLags();
const stillHung = sender.underWay();
await db.deleteFrom('webhook').where('webhook_id', '=', hangingId).execute();
const after = await measureLags();
const without = [...before, ...after].toSorted((a, b) => a - b);
const ratio = at(beside, 0.99) / at(without, 0.99);

report([
  { what: 'sends that hang', figure: `${hung}, ${stillHung}`, kept: hung > 0 && stillHung > 0 },
  {
    what: 'without: p50, p99',
    figure: `${at(without, 0.5).toFixed(1)}, ${at(without, 0.99).toFixed(1)} ms`,
  },
  {
    what: 'beside: p50, p99',
    figure: `${at(beside, 0.5).toFixed(1)}, ${at(beside, 0.99).toFixed(1)} ms`,
  },
  { what: 'p99 beside ÷ without', figure: ratio.toFixed(2), limit: '≤ 2.00', kept: ratio <= 2 },
]);
