/** A receiver in a separate process, the service that sends to it, and deliveries to send. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setDefaultCACertificates } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { Agent, request } from 'undici';
import { createTestAuthority } from '../../server/src/platform/egress/test-certificate.ts';
import { parseAllowList } from '../../server/src/platform/egress/allow-list.ts';
import { createEgress } from '../../server/src/platform/egress/egress.ts';
import type { Db } from '../../server/src/platform/database/database.ts';
import { createLogger } from '../../server/src/platform/logging/logging.ts';
import { Hints } from '../../server/src/platform/hints/hints.ts';
import {
  createVault,
  loadEncryptionKey,
  type Vault,
} from '../../server/src/platform/secrets/vault.ts';
import {
  startDeliverySender,
  type DeliverySender,
} from '../../server/src/features/webhooks/sending/sender.ts';
import { type BenchService } from './service.ts';

const receiverScript = fileURLToPath(new URL('./webhook-receiver.ts', import.meta.url));

export type BenchReceiver = AsyncDisposable & {
  url: string;
  /** Accepts a delivery but never answers. */
  hangingUrl: string;
  /** The certificate to trust, and its file. */
  ca: string;
  caFile: string;
  /** Settings that allow the service to send to it. */
  env: Record<string, string>;
  count(): Promise<{ count: number; lastAt: number; hanging: number }>;
  /** From now on, it reads the bodies, which takes time, and records their titles. */
  keepArrivals(): Promise<unknown>;
  /** Arrivals since the last call. */
  arrivals(): Promise<[title: string, at: number][]>;
};

export async function startBenchReceiver(): Promise<BenchReceiver> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'reelfeed-bench-'));
  const authority = await createTestAuthority();
  const certificate = await authority.issue(['127.0.0.1']);
  const files = {
    key: path.join(folder, 'key.pem'),
    cert: path.join(folder, 'cert.pem'),
    ca: path.join(folder, 'ca.pem'),
  };
  await writeFile(files.key, certificate.key);
  await writeFile(files.cert, certificate.cert);
  await writeFile(files.ca, authority.cert);
  const args = [receiverScript, files.key, files.cert];
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const port = Number(line.toString());
  const agent = new Agent({ connect: { ca: authority.cert }, connections: 1 });
  const ask = async (target: string) => {
    const { body } = await request(`https://127.0.0.1:${port}${target}`, { dispatcher: agent });
    return body.json();
  };
  return {
    url: `https://127.0.0.1:${port}/hook`,
    hangingUrl: `https://127.0.0.1:${port}/hang`,
    ca: authority.cert,
    caFile: files.ca,
    env: { NODE_EXTRA_CA_CERTS: files.ca, REELFEED_EGRESS_ALLOW: `127.0.0.1:${port}` },
    count: () => ask('/count') as Promise<{ count: number; lastAt: number; hanging: number }>,
    keepArrivals: () => ask('/keep'),
    arrivals: () => ask('/arrivals') as Promise<[string, number][]>,
    async [Symbol.asyncDispose]() {
      await agent.destroy();
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Registers `count` webhooks for content.ready and returns their ids. */
export async function registerWebhooks(
  service: BenchService,
  url: string,
  count: number,
): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const answer = await fetch(`${service.url}/v1/webhooks`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${service.secretKey}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ url: `${url}/${n}`, events: ['content.ready'] }),
    });
    const { data } = (await answer.json()) as { data: { id: string } };
    ids.push(data.id);
  }
  return ids;
}

export type BenchSender = AsyncDisposable & {
  sender: DeliverySender;
  hints: Hints;
  vault: Vault;
  organizationId: string;
};

/**
 * Starts a sender in this process, woken like that of the service, on the database of a service
 * without one.
 */
export async function startBenchSender(
  service: BenchService,
  receiver: BenchReceiver,
): Promise<BenchSender> {
  setDefaultCACertificates([receiver.ca]);
  await using starting = new AsyncDisposableStack();
  const { db } = service.database;
  const { organization_id: organizationId } = await db
    .selectFrom('organization')
    .select('organization_id')
    .executeTakeFirstOrThrow();
  const hints = new Hints();
  const allow = parseAllowList([receiver.env['REELFEED_EGRESS_ALLOW'] ?? '']);
  const egress = starting.use(createEgress({ allow }));
  const vault = createVault(await loadEncryptionKey(null, service.dataDir));
  const sender = starting.use(
    startDeliverySender({
      db,
      log: createLogger('error'),
      egress,
      vault,
      scheduleMs: [0, 60_000],
      concurrency: 256,
      hints,
      timing: { graceMs: 100 },
    }),
  );
  const running = starting.move();
  return {
    sender,
    hints,
    vault,
    organizationId,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** The body of a bench delivery, in the service's format. */
export function benchBody(webhookId: string, title: string): string {
  return JSON.stringify({
    event: 'content.ready',
    data: {
      contentId: '0198c0de-0000-7000-8000-000000000000',
      title,
      duration: 15,
      status: 'ready',
    },
    timestamp: '2026-01-31T12:00:00.000Z',
    webhookId,
  });
}

/** Queues `count` due deliveries, spread evenly over the webhooks, in one transaction. */
export async function fillLine(
  db: Db,
  webhookIds: readonly string[],
  count: number,
): Promise<void> {
  await sql`
    insert into webhook_delivery (organization_id, webhook_id, delivery_id, event_id, kind, body,
      occurred_at, created_at, due_at)
    select organization_id, webhook_id, 'dlv_' || lpad(to_hex((extract(epoch from clock_timestamp())
        * 1000)::bigint), 12, '0') || substr(md5(random()::text), 1, 14),
      gen_random_uuid(), 'content.ready', replace(${benchBody('WEBHOOK', 'A clip of the benchmark')},
        'WEBHOOK', webhook_id), now(), now(), now()
    from generate_series(1, ${count}::int) n
    join (select organization_id, webhook_id, row_number() over (order by webhook_id) - 1 as place
      from webhook where webhook_id = any(${webhookIds}::text[])) hook
      on hook.place = n % ${webhookIds.length}::int
  `.execute(db);
}

/**
 * Waits until the receiver has `target` deliveries.
 *
 * @returns how many it has, and since when
 */
export async function waitForCount(
  receiver: BenchReceiver,
  target: number,
): Promise<{ count: number; lastAt: number }> {
  for (;;) {
    const arrived = await receiver.count();
    if (arrived.count >= target) return arrived;
    // Arrival times come from the receiver, so infrequent polling does not reduce accuracy.
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
