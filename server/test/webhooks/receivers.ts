/** A sender with deadlines chosen by the test, for single deliveries to any receiver. */
import assert from 'node:assert/strict';
import { atEnd, openTestDatabase, silentLog } from '../database.ts';
import { startReceiver, type Answer } from '../receiver.ts';
import { eventually } from '../service.ts';
import { inTransaction } from '../../src/platform/database/database.ts';
import { parseAllowList } from '../../src/platform/egress/allow-list.ts';
import { createEgress } from '../../src/platform/egress/egress.ts';
import { newTypeId, type OrganizationId, type WebhookId } from '../../src/platform/values/ids.ts';
import { createVault } from '../../src/platform/secrets/vault.ts';
import type { DeliveryRow } from '../../src/features/webhooks/deliveries/delivery-queries.ts';
import {
  anyDelivery,
  listDeliveries,
} from '../../src/features/webhooks/deliveries/list-queries.ts';
import { createWebhook } from '../../src/features/webhooks/endpoints/endpoints.ts';
import type { DeliveryError } from '../../src/features/webhooks/sending/schedule.ts';
import { startDeliverySender } from '../../src/features/webhooks/sending/sender.ts';
import { cause } from './webhooks.ts';

export type Deadlines = { connectTimeoutMs: number; totalTimeoutMs: number };

export async function startSending({ connectTimeoutMs, totalTimeoutMs }: Deadlines) {
  const { db } = await openTestDatabase();
  const vault = createVault(Buffer.alloc(32, 7));
  const egress = createEgress({ allow: parseAllowList(['127.0.0.0/8']), connectTimeoutMs });
  atEnd(() => egress[Symbol.asyncDispose]());
  const sender = startDeliverySender({
    db,
    log: silentLog,
    egress,
    vault,
    scheduleMs: [0, 3_600_000],
    concurrency: 64,
    timing: { totalTimeoutMs, pollEveryMs: 50, graceMs: 100 },
  });
  atEnd(() => sender[Symbol.asyncDispose]());

  const createOrganization = async (): Promise<OrganizationId> => {
    const id = newTypeId('org');
    await db.insertInto('organization').values({ organization_id: id, name: 'A' }).execute();
    return id;
  };
  const organizationId = await createOrganization();

  const register = async (url: string, owner = organizationId): Promise<WebhookId> => {
    const request = { url, events: ['content.ready'], description: null };
    const { webhookId } = await inTransaction(db, (tx) => createWebhook(tx, vault, owner, request));
    return webhookId;
  };

  /** The state of a delivery to the URL after its first attempt, and how long that took. */
  const deliverTo = async (url: string): Promise<DeliveryRow & { tookMs: number }> => {
    const webhookId = await register(url);
    const startedAt = performance.now();
    await cause(db, organizationId, url);
    const row = await eventually('the attempt', async () => {
      const page = { filter: anyDelivery, limit: 1, after: null };
      const [found] = await listDeliveries(db, organizationId, webhookId, page);
      return found !== undefined && found.attempts > 0 ? found : null;
    });
    const tookMs = performance.now() - startedAt;
    await db.deleteFrom('webhook').execute();
    return { ...row, tookMs };
  };

  const deliverWith = async (answer: Answer) => {
    const receiver = await startReceiver(() => answer);
    const row = await deliverTo(receiver.url);
    return { ...row, requests: receiver.requests.length, receiver };
  };

  return { db, organizationId, createOrganization, register, deliverTo, deliverWith };
}

export function failsWith(
  row: DeliveryRow,
  error: DeliveryError,
  statusCode: number | null = null,
): void {
  assert.deepEqual([row.status, row.lastError, row.statusCode], ['pending', error, statusCode]);
}
