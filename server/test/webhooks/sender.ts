/** A database, organizations and senders for tests of the sender. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import path from 'node:path';
import { beforeEach } from 'node:test';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { atEnd, openTestDatabase, silentLog } from '../database.ts';
import { authority, startReceiver } from '../receiver.ts';
import { temporaryFolder } from '../service.ts';
import { inTransaction, openDatabase } from '../../src/platform/database/database.ts';
import { parseAllowList } from '../../src/platform/egress/allow-list.ts';
import { createEgress } from '../../src/platform/egress/egress.ts';
import { newTypeId, type OrganizationId, type WebhookId } from '../../src/platform/values/ids.ts';
import { createVault } from '../../src/platform/secrets/vault.ts';
import { createWebhook } from '../../src/features/webhooks/endpoints/endpoints.ts';
import type { SenderOptions } from '../../src/features/webhooks/sending/sender-options.ts';
import { startDeliverySender } from '../../src/features/webhooks/sending/sender.ts';
import { cause } from './webhooks.ts';

const { db: sendingDb, connection } = await openTestDatabase();
// A separate connection for the tests themselves, unaffected when all others are terminated.
const observer = openDatabase({ connection, poolSize: 1, log: silentLog });
atEnd(() => observer[Symbol.asyncDispose]());
export const { db } = observer;
export const organizationId: OrganizationId = newTypeId('org');
export const otherOrganizationId: OrganizationId = newTypeId('org');
await db
  .insertInto('organization')
  .values([
    { organization_id: organizationId, name: 'A' },
    { organization_id: otherOrganizationId, name: 'B' },
  ])
  .execute();
const key = Buffer.alloc(32, 9);
export const vault = createVault(key);
const egress = createEgress({ allow: parseAllowList(['127.0.0.0/8']) });
atEnd(() => egress[Symbol.asyncDispose]());
const caFile = path.join(await temporaryFolder(), 'ca.pem');
await writeFile(caFile, authority.cert);

beforeEach(async () => {
  await sql`truncate webhook, webhook_event, webhook_delivery, webhook_delivery_log,
    webhook_delivery_count, webhook_sender`.execute(db);
});

export function start(options: Partial<SenderOptions> = {}) {
  return startDeliverySender({
    db: sendingDb,
    log: silentLog,
    egress,
    vault,
    scheduleMs: [0, 1_000, 1_000],
    concurrency: 64,
    ...options,
    timing: {
      pollEveryMs: 50,
      beatEveryMs: 200,
      deadAfterMs: 1_500,
      graceMs: 300,
      ...options.timing,
    },
  });
}

const script = fileURLToPath(new URL('./sender-process.ts', import.meta.url));

export async function startProcess(clockOffsetMs = 0): Promise<ChildProcess> {
  const args = [script, JSON.stringify(connection), key.toString('base64'), String(clockOffsetMs)];
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], {
    env: { ...process.env, NODE_EXTRA_CA_CERTS: caFile },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  atEnd(async () => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
}

export async function register(url: string, owner = organizationId): Promise<WebhookId> {
  const request = { url, events: ['content.ready'], description: null };
  const { webhookId } = await inTransaction(db, (tx) => createWebhook(tx, vault, owner, request));
  return webhookId;
}

/** Registers several webhooks, because a new webhook gets only one send at a time. */
export async function registerMany(url: string, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) await register(url);
}

/** Records events titled 0 to count − 1 concurrently. */
export async function causeMany(count: number): Promise<void> {
  await Promise.all(
    Array.from({ length: 4 }, async (_, line) => {
      for (let n = line; n < count; n += 4) await cause(db, organizationId, String(n));
    }),
  );
}

/** A receiver whose responses are sent manually. */
export async function startHangingReceiver() {
  const open: ServerResponse[] = [];
  const receiver = await startReceiver(() => (_request, response) => void open.push(response));
  return { receiver, open };
}
