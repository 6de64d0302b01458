/**
 * How many rows per second does an export write, compared with PostgreSQL's `copy` of a plain table
 * with the same rows, and how much memory does it take? Ratios use the best of several rounds.
 *
 * BENCH_EVENTS sets the number of events (default 300,000).
 */
import { spawnSync } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { sql } from 'kysely';
import { Client } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { openEventLog } from '../server/src/features/events/events.ts';
import { makeExportFile } from '../server/src/features/exports/export-attempt.ts';
import { newExportFile } from '../server/src/features/exports/export-files.ts';
import { createExport } from '../server/src/features/exports/exports.ts';
import { startExport } from '../server/src/features/exports/queries.ts';
import type { Compression, ExportFormat } from '../server/src/features/exports/tables.ts';
import {
  inTransaction,
  openDatabase,
  poolConnection,
} from '../server/src/platform/database/database.ts';
import type { OrganizationId } from '../server/src/platform/values/ids.ts';
import { createLogger } from '../server/src/platform/logging/logging.ts';
import { connectionToRunningServer } from '../server/src/platform/postgres/running-server.ts';
import { openDiskStorage } from '../server/src/platform/storage/disk-storage.ts';
import { report, type Row } from './lib/report.ts';
import { startBenchService } from './lib/service.ts';

const count = Number(process.env['BENCH_EVENTS'] ?? 300_000);
const rounds = 3;
const leastRatio = 0.5;
const maxMemoryMiB = 300;

// Only the database is needed, without a worker that runs exports.
await using service = await startBenchService({ REELFEED_ROLES: 'api' });
const connection = await connectionToRunningServer(service.dataDir);
await using database = openDatabase({ connection, poolSize: 4, log: createLogger('error') });
const { db } = database;
const eventLog = openEventLog(db);
const folder = await mkdtemp(path.join(os.tmpdir(), 'reelfeed-bench-'));
const storage = await openDiskStorage(path.join(folder, 'media'));
const organization = await sql<{ organization_id: OrganizationId }>`
  select organization_id from organization`.execute(db);
const [first] = organization.rows;
if (first === undefined) throw new Error('there is no organization');
const { organization_id: organizationId } = first;

// In a separate process, so that memory used for seeding does not count towards exports.
const seeded = spawnSync(
  process.execPath,
  [path.join(import.meta.dirname, 'lib/seed-exports.ts'), service.dataDir, String(count)],
  { stdio: 'inherit' },
);
if (seeded.status !== 0) throw new Error('the events could not be written');

async function copyMs(): Promise<number> {
  const client = new Client(poolConnection(connection));
  await client.connect();
  try {
    const startedAt = performance.now();
    const source = client.query(copyTo('copy copied to stdout (format csv, header)'));
    await pipeline(source, createWriteStream(path.join(folder, 'copied')));
    return performance.now() - startedAt;
  } finally {
    await client.end();
  }
}

async function exportMs(format: ExportFormat, compression: Compression): Promise<number> {
  const days = [Date.now() - 86_400_000, Date.now()];
  const [startDate = '', endDate = ''] = days.map((ms) => new Date(ms).toISOString().slice(0, 10));
  const wanted = { dataset: 'events', format, compression, startDate, endDate } as const;
  const { export_id: exportId } = await inTransaction(db, (tx) =>
    createExport(tx, organizationId, wanted),
  );
  const file = newExportFile({ organizationId, exportId });
  const started = await inTransaction(db, (tx) => startExport(tx, file));
  if (started === null) throw new Error('another worker started the export');
  const { signal } = new AbortController();
  const target = { file, row: started.row, done: started.parts };
  const startedAt = performance.now();
  const { rowCount } = await makeExportFile(
    { db, eventLog, storage },
    target,
    () => undefined,
    signal,
  );
  const durationMs = performance.now() - startedAt;
  if (rowCount !== count) throw new Error(`${rowCount} of ${count} rows`);
  await storage.removePrefix('exports');
  await sql`delete from data_export`.execute(db);
  return durationMs;
}

const kindsOfFile = [
  ['ndjson', 'none'],
  ['csv', 'none'],
  ['parquet', 'none'],
  ['ndjson', 'zstd'],
  ['csv', 'gzip'],
  ['parquet', 'zstd'],
] as const;
const best = new Map<string, number>();
const note = (name: string, ms: number) => best.set(name, Math.min(best.get(name) ?? Infinity, ms));
for (let round = 0; round < rounds; round += 1) {
  note('copy', await copyMs());
  for (const [format, compression] of kindsOfFile) {
    note(`${format}, ${compression}`, await exportMs(format, compression));
  }
}
const rate = (name: string) => (count / (best.get(name) ?? Infinity)) * 1_000;
const rows: Row[] = [{ what: 'copy, rows/s', figure: rate('copy').toFixed(0) }];
for (const [format, compression] of kindsOfFile) {
  const name = `${format}, ${compression}`;
  const ratio = rate(name) / rate('copy');
  rows.push({
    what: `${name}: rows/s, and as a ratio to copy`,
    figure: `${rate(name).toFixed(0)}, ${ratio.toFixed(2)}`,
    limit: `at least ${leastRatio}`,
    kept: ratio >= leastRatio,
  });
}
const memoryMiB = process.resourceUsage().maxRSS / 1_024;
rows.push({
  what: 'maximum memory of the exporting process',
  figure: `${memoryMiB.toFixed(0)} MiB`,
  limit: `${maxMemoryMiB} MiB`,
  kept: memoryMiB <= maxMemoryMiB,
});
report(rows);
await rm(folder, { recursive: true, force: true });
