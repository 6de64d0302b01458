/**
 * How long does a delivery take from the commit of its event to the receiver, when the sender is
 * idle? The sender runs in this process, woken after each commit as in the service; the receiver is
 * a process of its own, the database the durable embedded one.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { cause } from '../server/src/features/webhooks/webhooks.fixture.ts';
import { webhookDeliveries } from '../server/src/features/webhooks/webhooks.ts';
import { report } from './lib/report.ts';
import { startBenchService } from './lib/service.ts';
import { registerWebhooks, startBenchReceiver, startBenchSender } from './lib/webhooks.ts';

const events = 300;
const pauseMs = 60;

await using receiver = await startBenchReceiver({ keepsArrivals: true });
await using service = await startBenchService({ ...receiver.env, REELFEED_ROLES: 'api' });
await registerWebhooks(service, receiver.url, 1);
const { db } = service.database;
await using sending = await startBenchSender(service, receiver);
const { sender, hints, organizationId } = sending;

const committedAt = new Map<string, number>();
for (let n = 0; n < events; n += 1) {
  const title = String(n);
  await cause(db, organizationId, title);
  committedAt.set(title, performance.timeOrigin + performance.now());
  hints.give(webhookDeliveries);
  await delay(pauseMs);
}
await delay(1_000);
const lags = (await receiver.arrivals())
  // The first ones warm both processes up and open the connection.
  .filter(([title]) => Number(title) >= 50)
  .map(([title, at]) => at - (committedAt.get(title) ?? Number.NaN))
  .toSorted((a, b) => a - b);
const at = (share: number) => lags[Math.floor((lags.length - 1) * share)] ?? Number.NaN;

report([
  { what: 'deliveries measured', figure: String(lags.length), kept: lags.length === events - 50 },
  {
    what: 'commit → wire p50',
    figure: `${at(0.5).toFixed(1)} ms`,
    limit: '≤ 10 ms',
    kept: at(0.5) <= 10,
  },
  {
    what: 'commit → wire p99',
    figure: `${at(0.99).toFixed(1)} ms`,
    limit: '≤ 50 ms',
    kept: at(0.99) <= 50,
  },
  { what: 'slowest', figure: `${at(1).toFixed(1)} ms` },
  { what: 'sends under way at the end', figure: String(sender.underWay()) },
]);
