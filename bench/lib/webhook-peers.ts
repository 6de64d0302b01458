/**
 * Alternatives a team might use to send webhooks, and our sender, behind one type. The peers are
 * queues, so they get what a team would write around them: undici with 64 connections, the same two
 * signatures, and an error for anything but 2xx. Their settings are the fastest found here.
 */
import { randomUUID } from 'node:crypto';
import { Logger, makeWorkerUtils, run, type RunnerOptions } from 'graphile-worker';
import { PgBoss } from 'pg-boss';
import { Pool as Connections } from 'undici';
import { deliveriesElsewhere } from '../../server/src/features/webhooks/outbox/outbox.ts';
import { startDeliverySender } from '../../server/src/features/webhooks/sending/sender.ts';
import { signingKey } from '../../server/src/features/webhooks/endpoints/signing-keys.ts';
import { signedHeaders } from '../../server/src/features/webhooks/sending/signing.ts';
import { cause } from '../../server/test/webhooks/webhooks.ts';
import { webhookDeliveries } from '../../server/src/features/webhooks/webhooks.ts';
import {
  openDatabase,
  type DatabaseConnection,
} from '../../server/src/platform/database/database.ts';
import { parseAllowList } from '../../server/src/platform/egress/allow-list.ts';
import { createEgress } from '../../server/src/platform/egress/egress.ts';
import { Hints } from '../../server/src/platform/hints/hints.ts';
import { createLogger } from '../../server/src/platform/logging/logging.ts';
import { followSharedHint, shareHint } from '../../server/src/platform/hints/shared-hints.ts';
import { createVault, loadEncryptionKey } from '../../server/src/platform/secrets/vault.ts';
import { benchBody, fillLine } from './webhooks.ts';

export const peerNames = ['ours', 'graphile-worker', 'pg-boss'] as const;
export type PeerName = (typeof peerNames)[number];

export type PeerOptions = {
  connection: DatabaseConnection;
  dataDir: string;
  /** The address of the receiver, and its entry in the allow-list. */
  url: string;
  allow: string;
  organizationId: string;
  webhookId: string;
  secret: string;
  /** Whether it sends, or only commits deliveries that others send. */
  sends: boolean;
};

export type Peer = AsyncDisposable & {
  fill(count: number): Promise<void>;
  /** Commits one delivery, like the transaction that causes an event. */
  add(title: string): Promise<void>;
};

export function openPeer(name: PeerName, options: PeerOptions): Promise<Peer> {
  if (name === 'ours') return openOurs(options);
  return name === 'pg-boss' ? openPgBoss(options) : openGraphileWorker(options);
}

async function openOurs(options: PeerOptions): Promise<Peer> {
  const { connection, organizationId, webhookId } = options;
  await using starting = new AsyncDisposableStack();
  const log = createLogger('error');
  const { db } = starting.use(openDatabase({ connection, poolSize: 4, log }));
  const hints = new Hints();
  if (options.sends) {
    const egress = starting.use(createEgress({ allow: parseAllowList([options.allow]) }));
    const vault = createVault(await loadEncryptionKey(null, options.dataDir));
    const scheduleMs = [0, 60_000];
    starting.use(
      startDeliverySender({ db, log, egress, vault, scheduleMs, concurrency: 256, hints }),
    );
    const ending = new AbortController();
    const onHint = () => hints.give(deliveriesElsewhere);
    void followSharedHint({ connection, log, name: webhookDeliveries, onHint }, ending.signal);
    starting.defer(() => ending.abort());
  } else {
    starting.defer(shareHint(db, hints, webhookDeliveries));
  }
  const running = starting.move();
  return {
    async fill(count) {
      await fillLine(db, [webhookId], count);
      hints.give(webhookDeliveries);
    },
    async add(title) {
      await cause(db, organizationId, title);
      hints.give(webhookDeliveries);
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

type Message = { deliveryId: string; body: string };

function messageOf({ webhookId }: PeerOptions, title: string): Message {
  return { deliveryId: `dlv_${randomUUID()}`, body: benchBody(webhookId, title) };
}

function messagesOf(options: PeerOptions, count: number): Message[] {
  return Array.from({ length: count }, () => messageOf(options, 'A clip of the benchmark'));
}

const connections = 64;

/** Signs and posts a message. */
function createPoster({ url, webhookId, secret }: PeerOptions) {
  const { origin, pathname: path } = new URL(url);
  const pool = new Connections(origin, { connections });
  const keys = { current: signingKey(secret), previous: [] };
  return async ({ deliveryId, body }: Message): Promise<void> => {
    const timestamp = '2026-01-31T12:00:00.000Z';
    const sentAtMs = Date.now();
    const message = { webhookId, deliveryId, attempt: 1, timestamp, body, sentAtMs };
    const headers = signedHeaders(message, keys);
    const answer = await pool.request({ method: 'POST', path, headers, body });
    await answer.body.dump();
    if (answer.statusCode < 200 || answer.statusCode > 299) {
      throw new Error(`answered ${answer.statusCode}`);
    }
  };
}

async function openGraphileWorker(options: PeerOptions): Promise<Peer> {
  const connectionString = urlOf(options.connection);
  const logger = new Logger(() => () => undefined);
  await using starting = new AsyncDisposableStack();
  const utils = await makeWorkerUtils({ connectionString, logger });
  starting.defer(async () => utils.release());
  await utils.migrate();
  if (options.sends) {
    const post = createPoster(options);
    const runnerOptions: RunnerOptions = {
      connectionString,
      logger,
      concurrency: connections,
      noHandleSignals: true,
      taskList: { deliver: (payload) => post(payload as Message) },
      preset: {
        worker: {
          maxPoolSize: 10,
          localQueue: { size: 500 },
          completeJobBatchDelay: 5,
          failJobBatchDelay: 5,
        },
      },
    };
    const runner = await run(runnerOptions);
    starting.defer(() => runner.stop());
  }
  const running = starting.move();
  return {
    async fill(count) {
      const messages = messagesOf(options, count);
      await utils.addJobs(messages.map((payload) => ({ identifier: 'deliver', payload })));
    },
    async add(title) {
      await utils.addJob('deliver', messageOf(options, title));
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

const queue = 'deliveries';

async function openPgBoss(options: PeerOptions): Promise<Peer> {
  const boss = new PgBoss({
    connectionString: urlOf(options.connection),
    useListenNotify: options.sends,
    supervise: options.sends,
    schedule: false,
  });
  boss.on('error', (error) => console.error(error));
  await boss.start();
  await boss.createQueue(queue, { notify: true });
  if (options.sends) {
    const post = createPoster(options);
    const work = {
      batchSize: 64,
      localConcurrency: 4,
      burstWhenBatchFull: true,
    };
    await boss.work<Message>(queue, work, async (jobs) => {
      await Promise.all(jobs.map(({ data }) => post(data)));
    });
  }
  return {
    async fill(count) {
      await boss.insert(
        queue,
        messagesOf(options, count).map((data) => ({ data })),
      );
    },
    async add(title) {
      await boss.send(queue, messageOf(options, title));
    },
    [Symbol.asyncDispose]: () => boss.stop({ graceful: false }),
  };
}

/** libpq's notation for a socket in a URL. */
function urlOf(connection: DatabaseConnection): string {
  if ('url' in connection) return connection.url;
  const { host, port, user, password, database } = connection;
  const query = new URLSearchParams({ host, port: String(port) });
  return `postgres://${user}:${encodeURIComponent(password)}@/${database}?${query.toString()}`;
}
