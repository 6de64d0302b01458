/** Helpers for the tests of the embedded database. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { Client } from 'pg';
import { pino } from 'pino';
import { claimDataDirectory } from '../data-directory/data-directory.ts';
import {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from './embedded-postgres.ts';
import type { EmbeddedConnection } from './service-database.ts';
import { clusterProcesses, readPostmasterFile } from './leftovers.ts';

export const isRoot = process.getuid?.() === 0;
/** The user 'nobody' on most systems. */
export const ORDINARY_UID = 65_534;

export const silentLog = pino({ level: 'silent' });

/** A folder that is removed with all its contents on disposal. */
export async function temporaryFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'reelfeed-pg-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** Runs `use` on a claimed directory with a running database, and stops both afterwards. */
export async function withPostgres<T>(
  path: string,
  use: (postgres: EmbeddedPostgres) => Promise<T>,
  options: Partial<Omit<EmbeddedPostgresOptions, 'dataDir'>> = {},
): Promise<T> {
  await using dataDir = await claimDataDirectory(path);
  const signal = new AbortController().signal;
  await using postgres = await startEmbeddedPostgres({
    log: silentLog,
    signal,
    ...options,
    dataDir,
  });
  return await use(postgres);
}

/** Runs statements in one session; returns the first column of the first row of each. */
export async function query(
  connection: EmbeddedConnection,
  ...statements: readonly string[]
): Promise<readonly unknown[]> {
  const client = new Client({ ...connection, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const results: unknown[] = [];
    for (const statement of statements) {
      const { rows } = await client.query<unknown[]>({ text: statement, rowMode: 'array' });
      results.push(rows[0]?.[0]);
    }
    return results;
  } finally {
    await client.end();
  }
}

/** The live PostgreSQL processes of a data directory. */
export async function serverProcesses(path: string): Promise<readonly number[]> {
  const cluster = join(path, 'postgres');
  return clusterProcesses(cluster, await readPostmasterFile(cluster));
}

type Service = AsyncDisposable & {
  readonly child: ChildProcess;
  readonly serverPid: number;
  readonly connection: EmbeddedConnection;
};

/**
 * Starts a service process on the directory, optionally as another user or through another command.
 * Disposing of it ends the process and its server.
 */
export async function startServiceProcess(
  path: string,
  options: { readonly uid?: number; readonly command?: readonly string[] } = {},
): Promise<Service> {
  const fixture = join(import.meta.dirname, 'embedded-postgres.fixture.ts');
  const user = options.uid === undefined ? {} : { uid: options.uid, gid: options.uid };
  const [file, ...args] = [...(options.command ?? []), process.execPath, fixture, path];
  const stdio: ['pipe', 'pipe', 'inherit'] = ['pipe', 'pipe', 'inherit'];
  const child = spawn(file, args, { stdio, cwd: '/', ...user });
  const [line]: unknown[] = await once(createInterface({ input: child.stdout }), 'line');
  const answer: unknown = JSON.parse(String(line));
  assert.ok(isReady(answer), String(line));
  return {
    child,
    ...answer,
    async [Symbol.asyncDispose]() {
      await endProcess(child, 'SIGTERM');
      for (const pid of await serverProcesses(path)) process.kill(pid, 'SIGKILL');
    },
  };
}

/** Kills a process that this test started and waits for its end. */
export async function endProcess(child: ChildProcess, name: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill(name);
  await exited;
}

function isReady(answer: unknown): answer is { serverPid: number; connection: EmbeddedConnection } {
  return typeof answer === 'object' && answer !== null && 'serverPid' in answer;
}
