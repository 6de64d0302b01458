/** A PostgreSQL of its own behind a network of its own, and everything that may happen to the two. */
import path from 'node:path';
import { Client } from 'pg';
import { pino } from 'pino';
import { claimDataDirectory } from '../../src/platform/data-directory.ts';
import { poolConnection, type DatabaseConnection } from '../../src/platform/database/database.ts';
import { startEmbeddedPostgres } from '../../src/platform/postgres/embedded-postgres.ts';
import { clusterProcesses, readPostmasterFile } from '../../src/platform/postgres/leftovers.ts';
import { setTimeout as delay } from 'node:timers/promises';
import { atEnd } from '../database.ts';
import { putNetworkBefore } from '../faulty-network.ts';
import { kill } from '../process-tree.ts';
import { temporaryFolder } from '../service.ts';

export type Fault = {
  name: string;
  /** Strikes, and resolves when the cause is over; the service then has to come back by itself. */
  strike(): Promise<void>;
};

export type FaultyDatabase = {
  /** As the services reach it. */
  connection: DatabaseConnection;
  /** Past the network, for looking at what is stored. */
  direct: DatabaseConnection;
  faults: readonly Fault[];
};

/** Tables that many requests, or the loops of every process, need. */
const hotTables = [
  ...['viewer_set', 'content', 'event_block', 'job', 'webhook_delivery', 'api_key', 'projection'],
  ...['view_state_a', 'organization', 'experiment', 'lease', 'data_export', 'audit_entry'],
];

/** Longer than a request waits for a lock. */
const lockMs = 14_000;
const freezeMs = 9_000;
const refuseMs = 4_000;

export async function startFaultyDatabase(): Promise<FaultyDatabase> {
  const folder = await temporaryFolder();
  const dataDir = await claimDataDirectory(folder);
  const log = pino({ level: 'silent' });
  const { signal } = new AbortController();
  // It runs with all that makes it durable, since it is killed.
  const server = await startEmbeddedPostgres({ dataDir, log, signal });
  atEnd(async () => {
    await server[Symbol.asyncDispose]();
    await dataDir[Symbol.asyncDispose]();
  });
  const direct = server.connection;
  const network = await putNetworkBefore(direct);
  const cluster = path.join(folder, 'postgres');
  const processes = async () => clusterProcesses(cluster, await readPostmasterFile(cluster));
  const signalAll = async (name: 'SIGSTOP' | 'SIGCONT') => {
    for (const pid of await processes()) {
      try {
        process.kill(pid, name);
      } catch {
        // A backend that has ended in the meantime.
      }
    }
  };
  const killed = async () => {
    if (server.pid !== undefined) kill([server.pid]);
  };
  const faults: Fault[] = [
    { name: 'postmaster killed', strike: killed },
    {
      name: 'all of PostgreSQL killed',
      async strike() {
        kill(await processes());
      },
    },
    {
      name: 'frozen',
      async strike() {
        await signalAll('SIGSTOP');
        await delay(freezeMs);
        await signalAll('SIGCONT');
      },
    },
    {
      name: 'network frozen',
      async strike() {
        network.freeze();
        await delay(freezeMs);
        await network.heal();
      },
    },
    {
      name: 'network refuses',
      async strike() {
        await network.refuse();
        await delay(refuseMs);
        await network.heal();
      },
    },
    { name: 'connections cut', strike: async () => network.cut() },
    { name: 'connections forgotten', strike: async () => network.forgetConnections() },
    ...hotTables.map((table) => ({
      name: `locked: ${table}`,
      strike: () => holdLock(direct, table),
    })),
  ];
  return { connection: network.connection, direct, faults };
}

async function holdLock(connection: DatabaseConnection, table: string): Promise<void> {
  const client = new Client(poolConnection(connection));
  client.on('error', () => undefined);
  await client.connect();
  try {
    // Behind what holds the table at the moment, as every migration has to wait.
    await client.query(`begin; set local lock_timeout = '${lockMs}ms'`);
    await client.query(`lock table ${table} in access exclusive mode`);
    await delay(lockMs);
    await client.query('commit');
  } catch (error) {
    // Others held it all the time. Those who came later waited behind this request nevertheless.
    if (!/lock timeout|deadlock/.test(String(error))) throw error;
  } finally {
    await client.end();
  }
}
