/**
 * How many rows a second does an export write, beside PostgreSQL's `copy` of a plain table with the same
 * rows, and how much memory does it take? Ratios of the best of some rounds of one run.
 *
 * BENCH_EVENTS names the number of events, 300,000 without it.
 */
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { sql } from 'kysely';
import { Client } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import {
  openEventLog,
  type EventKind,
  type LoggedEvent,
} from '../server/src/features/events/events.ts';
import { makeExportFile } from '../server/src/features/exports/export-attempt.ts';
import { newExportFile } from '../server/src/features/exports/export-files.ts';
import { createExport } from '../server/src/features/exports/exports.ts';
import { startExport } from '../server/src/features/exports/queries.ts';
import type { Compression, Format } from '../server/src/features/exports/tables.ts';
import {
  inTransaction,
  openDatabase,
  poolConnection,
} from '../server/src/platform/database/database.ts';
import type { OrganizationId } from '../server/src/platform/ids.ts';
import { createLogger } from '../server/src/platform/logging.ts';
import { connectionToRunningServer } from '../server/src/platform/postgres/running-server.ts';
import { openDiskStorage } from '../server/src/platform/storage/disk-storage.ts';
import { newUuid7 } from '../server/src/platform/uuid7.ts';
import { report, type Row } from './lib/report.ts';
import { startBenchService } from './lib/service.ts';

const count = Number(process.env['BENCH_EVENTS'] ?? 300_000);
const rounds = 3;
const leastRatio = 0.5;
const maxMemoryMiB = 300;

// Only the database is needed: nobody else makes exports.
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

const kinds: readonly EventKind[] = ['impression', 'playStart', 'watchProgress', 'completion'];
const contentIds = Array.from({ length: 500 }, () => newUuid7());

function eventAt(index: number): LoggedEvent {
  const data = {
    currentTime: (index % 300) / 10,
    duration: 30,
    percentComplete: index % 100,
    rendition: '720p',
    entryPoint: 'feed',
  };
  return {
    eventId: newUuid7(),
    event: kinds[index % kinds.length] ?? 'like',
    contentId: contentIds[index % contentIds.length] ?? '',
    at: Date.now() - 3_600_000 + (index % 3_600_000),
    userId: `user-${index % 5_000}`,
    deviceId: newUuid7(),
    sessionId: `session-${index % 20_000}`,
    country: 'DE',
    device: 'ios',
    appVersion: '2.4.1',
    data,
  };
}

await sql`create table copied (event_id text, event text, content_id text, at timestamptz,
  received_at timestamptz, user_id text, device_id text, session_id text, country text, device text,
  app_version text, bot boolean, data jsonb)`.execute(db);
const eventsOfBlock = 1_000;
for (let from = 0; from < count; from += eventsOfBlock) {
  const events = Array.from({ length: eventsOfBlock }, (_, index) => eventAt(from + index));
  await eventLog.append([{ organizationId, events }]);
  await sql`
    insert into copied
    select e->>'eventId', e->>'event', e->>'contentId', to_timestamp((e->>'at')::float8 / 1000), now(),
      e->>'userId', e->>'deviceId', e->>'sessionId', e->>'country', e->>'device', e->>'appVersion',
      false, e->'data'
    from jsonb_array_elements(${JSON.stringify(events)}::jsonb) e`.execute(db);
}
await sql`vacuum analyze copied`.execute(db);

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

async function exportMs(format: Format, compression: Compression): Promise<number> {
  const days = [Date.now() - 86_400_000, Date.now()];
  const [startDate = '', endDate = ''] = days.map((ms) => new Date(ms).toISOString().slice(0, 10));
  const wanted = { dataset: 'events', format, compression, startDate, endDate } as const;
  const { export_id: exportId } = await inTransaction(db, (tx) =>
    createExport(tx, organizationId, wanted),
  );
  const file = newExportFile({ organizationId, exportId });
  const started = await inTransaction(db, (tx) => startExport(tx, file));
  if (started === null) throw new Error('the export was made by somebody else');
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
const rows: Row[] = [{ what: 'copy, rows a second', figure: rate('copy').toFixed(0) }];
for (const [format, compression] of kindsOfFile) {
  const name = `${format}, ${compression}`;
  const ratio = rate(name) / rate('copy');
  rows.push({
    what: `${name}: rows a second, of copy`,
    figure: `${rate(name).toFixed(0)}, ${ratio.toFixed(2)}`,
    limit: `at least ${leastRatio}`,
    kept: ratio >= leastRatio,
  });
}
const memoryMiB = process.resourceUsage().maxRSS / 1_024;
rows.push({
  what: 'most memory of the process that exports',
  figure: `${memoryMiB.toFixed(0)} MiB`,
  limit: `${maxMemoryMiB} MiB`,
  kept: memoryMiB <= maxMemoryMiB,
});
report(rows);
await rm(folder, { recursive: true, force: true });
