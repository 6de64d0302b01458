/** Exports of many events by a process that is killed repeatedly. */
import assert from 'node:assert/strict';
import { createReadStream, createWriteStream } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32, createGunzip, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { openEventLog, type EventKind, type LoggedEvent } from '../src/features/events/events.ts';
import type { OrganizationId } from '../src/platform/values/ids.ts';
import type { Db } from '../src/platform/database/database.ts';
import { hourMs } from '../src/platform/values/time.ts';

const kinds = ['like', 'share', 'save', 'rebuffer'] as const satisfies readonly EventKind[];
const eventsOfBlock = 1_000;

/** A checksum over events that detects missing and duplicate ones. */
export type Sums = { rows: number; ids: number; kinds: Record<string, number> };

function emptySums(): Sums {
  return { rows: 0, ids: 0, kinds: {} };
}

function add(sums: Sums, eventId: string, kind: string): void {
  sums.rows += 1;
  sums.ids += crc32(eventId);
  sums.kinds[kind] = (sums.kinds[kind] ?? 0) + 1;
}

/** Appends events to the log like the intake. */
export async function appendEvents(
  db: Db,
  organizationId: OrganizationId,
  { contentIds, count, endMs }: { contentIds: readonly string[]; count: number; endMs: number },
): Promise<Sums> {
  const log = openEventLog(db);
  const sums = emptySums();
  for (let from = 0; from < count; from += eventsOfBlock) {
    const events: LoggedEvent[] = [];
    for (let index = from; index < Math.min(from + eventsOfBlock, count); index += 1) {
      const event = kinds[index % kinds.length] ?? 'like';
      const eventId = `00000000-0000-7000-8000-${String(index).padStart(12, '0')}`;
      add(sums, eventId, event);
      events.push({
        eventId,
        event,
        contentId: contentIds[index % contentIds.length] ?? '',
        at: endMs - Math.floor((index / count) * 12 * hourMs),
        userId: `user-${index % 5_003}`,
        deviceId: `device-${index % 7_001}`,
        sessionId: `session-${index % 9_001}`,
        country: 'DE',
        device: 'ios',
        appVersion: '2.4.1',
        data:
          event === 'rebuffer' ? { duration: 400, rendition: '720p', note: 'a "text", of it' } : {},
      });
    }
    await log.append([{ organizationId, events }]);
  }
  return sums;
}

export async function downloadTo(url: string, folder: string): Promise<string> {
  const answer = await fetch(url);
  assert.equal(answer.status, 200);
  assert.ok(answer.body !== null);
  const file = path.join(folder, 'download');
  await rm(file, { force: true });
  await pipeline(answer.body, createWriteStream(file));
  return file;
}

/** The checksum of the events in a file. */
export async function sumFile(file: string, format: string, compression: string): Promise<Sums> {
  return format === 'parquet' ? sumParquet(file) : sumLines(file, format, compression);
}

async function sumLines(file: string, format: string, compression: string): Promise<Sums> {
  const sums = emptySums();
  const input = await openText(file, compression);
  let isHeader = format === 'csv';
  for await (const line of createInterface({ input, crlfDelay: Infinity })) {
    if (isHeader) {
      isHeader = false;
      continue;
    }
    if (format === 'csv') {
      const [eventId = '', kind = ''] = line.split(',', 2);
      add(sums, eventId, kind);
    } else {
      const { eventId, event } = JSON.parse(line) as { eventId: string; event: string };
      add(sums, eventId, event);
    }
  }
  return sums;
}

async function openText(file: string, compression: string): Promise<Readable> {
  if (compression === 'zstd') return Readable.from(framesOf(await readFile(file)));
  const bytes = createReadStream(file);
  return compression === 'gzip' ? bytes.compose(createGunzip()) : bytes;
}

/** Node decompresses one zstd frame at a time and reports the bytes consumed. */
function* framesOf(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length;) {
    const unpacked: unknown = zstdDecompressSync(bytes.subarray(start), { info: true });
    const { buffer, engine } = unpacked as { buffer: Buffer; engine: { bytesWritten: number } };
    yield buffer;
    assert.ok(engine.bytesWritten > 0);
    start += engine.bytesWritten;
  }
}

async function sumParquet(filename: string): Promise<Sums> {
  const sums = emptySums();
  const file = await asyncBufferFromFile(filename);
  const metadata = await parquetMetadataAsync(file);
  const compressors = {
    GZIP: (input: Uint8Array) => new Uint8Array(gunzipSync(input)),
    ZSTD: (input: Uint8Array) => new Uint8Array(zstdDecompressSync(input)),
  };
  let rowStart = 0;
  for (const group of metadata.row_groups) {
    const rowEnd = rowStart + Number(group.num_rows);
    const columns = ['eventId', 'event'];
    const rows = await parquetReadObjects({
      file,
      metadata,
      compressors,
      columns,
      rowStart,
      rowEnd,
    });
    for (const row of rows) add(sums, String(row['eventId']), String(row['event']));
    rowStart = rowEnd;
  }
  assert.equal(Number(metadata.num_rows), sums.rows);
  return sums;
}

/** Peak memory of a process in MiB. Linux only. */
export async function peakMemoryMiB(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1_024;
}
