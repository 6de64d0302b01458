/**
 * A dedicated PostgreSQL behind its own network proxy, and all the faults that can happen to them.
 */
import path from 'node:path';
import { Client } from 'pg';
import { pino } from 'pino';
import { claimDataDirectory } from '../../src/platform/data-directory/data-directory.ts';
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
  /**
   * Causes the fault, and resolves when its cause has ended; the service must then recover by
   * itself.
   */
  strike(): Promise<void>;
};

export type FaultyDatabase = {
  /** The connection for the services. */
  connection: DatabaseConnection;
  /** A connection that bypasses the network, for inspecting data. */
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
  // With full durability, because it is killed.
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
        // The backend has already ended.
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
    // Waits for existing locks on the table, like a migration.
    await client.query(`begin; set local lock_timeout = '${lockMs}ms'`);
    await client.query(`lock table ${table} in access exclusive mode`);
    await delay(lockMs);
    await client.query('commit');
  } catch (error) {
    // The lock was never acquired, but later requests waited behind this one nevertheless.
    if (!/lock timeout|deadlock/.test(String(error))) throw error;
  } finally {
    await client.end();
  }
}
