/**
 * Do receivers that hang slow others down? Measures the time from the commit of an event to its
 * arrival at a healthy receiver, alone and next to 1, 40 and 400 hanging webhooks of other
 * organizations at the same origin, with 5,000 deliveries queued; the sender runs in this process.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { createWebhook } from '../server/src/features/webhooks/endpoints/endpoints.ts';
import { cause } from '../server/test/webhooks/webhooks.ts';
import { webhookDeliveries } from '../server/src/features/webhooks/webhooks.ts';
import { inTransaction } from '../server/src/platform/database/database.ts';
import { newTypeId, type OrganizationId } from '../server/src/platform/values/ids.ts';
import { report, type Row } from './lib/report.ts';
import {
  fillLine,
  registerWebhooks,
  startBenchReceiver,
  startBenchSender,
} from './lib/webhooks.ts';
import { startBenchService } from './lib/service.ts';

const inLine = 5_000;
const rounds = 300;
/** The pause between two events, long enough for one delivery to finish. */
const pauseMs = 10;
const maxRatio = 2;

await using receiver = await startBenchReceiver();
await receiver.keepArrivals();
await using service = await startBenchService({ ...receiver.env, REELFEED_ROLES: 'api' });
const { db } = service.database;
await registerWebhooks(service, receiver.url, 1);
await using sending = await startBenchSender(service, receiver);
const { sender, hints, organizationId, vault } = sending;

/** In separate organizations, since each may have fifty. */
async function registerHanging(count: number): Promise<string[]> {
  const ids: string[] = [];
  let other = organizationId;
  for (let n = 0; n < count; n += 1) {
    if (n % 50 === 0) {
      other = newTypeId('org');
      await db.insertInto('organization').values({ organization_id: other, name: 'B' }).execute();
    }
    const request = { url: receiver.hangingUrl, events: ['content.ready'], description: null };
    const { webhookId } = await inTransaction(db, (tx) =>
      createWebhook(tx, vault, other as OrganizationId, request),
    );
    ids.push(webhookId);
  }
  return ids;
}

/** Milliseconds from each commit to its arrival, ascending. */
async function measureLags(): Promise<number[]> {
  const committedAt = new Map<string, number>();
  // The first rounds reopen the connection, which a pause has closed.
  for (let round = -5; round < rounds; round += 1) {
    await cause(db, organizationId, String(round));
    committedAt.set(String(round), performance.timeOrigin + performance.now());
    hints.give(webhookDeliveries);
    await delay(pauseMs);
  }
  const arrivals: [string, number][] = [];
  while (arrivals.length < rounds + 5) arrivals.push(...(await receiver.arrivals()));
  return arrivals
    .filter(([title]) => Number(title) >= 0)
    .map(([title, at]) => at - (committedAt.get(title) ?? Number.NaN))
    .toSorted((a, b) => a - b);
}

const at = (lags: readonly number[], share: number) =>
  lags[Math.floor((lags.length - 1) * share)] ?? Number.NaN;
const shown = (lags: readonly number[]) =>
  `${at(lags, 0.5).toFixed(1)}, ${at(lags, 0.99).toFixed(1)} ms`;

const rows: Row[] = [];
for (const count of [1, 40, 400]) {
  const alone = await measureLags();
  const { hanging } = await receiver.count();
  const ids = await registerHanging(count);
  await fillLine(db, ids, inLine);
  hints.give(webhookDeliveries);
  while ((await receiver.count()).hanging - hanging < count) await delay(100);
  const beside = await measureLags();
  const stillHung = sender.underWay() >= count;
  await db.deleteFrom('webhook').where('webhook_id', 'in', ids).execute();
  const ratio = at(beside, 0.99) / at(alone, 0.99);
  rows.push(
    { what: `alone: p50, p99`, figure: shown(alone) },
    { what: `alongside ${count} that hang: p50, p99`, figure: shown(beside), kept: stillHung },
    {
      what: `p99 alongside ${count} ÷ alone`,
      figure: ratio.toFixed(2),
      limit: `≤ ${maxRatio}.00`,
      kept: ratio <= maxRatio,
    },
  );
}
report(rows);
