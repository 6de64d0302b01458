/**
 * Warehouse push: writes an organization's events as Parquet to its own bucket, partitioned by day.
 *
 *   <prefix>/events/date=2026-01-31/00000007-0001.parquet
 *   <prefix>/events/_manifests/00000007.json
 *
 * 1. A batch is the part of the event log between two positions, which are stored before it is
 *    written. So every attempt writes the same rows into the same files.
 * 2. A manifest lists the files of its batch and is written after all of them. The position moves
 *    after that, in the transaction that ends the job: each event is in the files of exactly one
 *    manifest.
 * 3. Objects are replaced atomically. A crash leaves at most files that no manifest lists yet, and
 *    the next attempt overwrites them.
 * 4. When a viewer is erased, a batch in progress is written again. Files that are no longer part
 *    of it are replaced by empty ones, so that a reader of all files does not find the viewer.
 *    Completed batches are the organization's responsibility.
 */
import type { Db } from '../../../platform/database/database.ts';
import { clockOf } from '../../../platform/values/zone-clock.ts';
import type { DatasetParts, Row } from '../datasets/dataset.ts';
import { eventColumns, eventFilter, eventPage, toRow } from '../datasets/events.ts';
import { OvertakenExportError } from '../export-attempt.ts';
import { createWriter, nothingWritten } from '../formats/formats.ts';
import type { Compression } from '../tables.ts';
import type { DestinationBucket } from './bucket.ts';
import {
  beginBatch,
  findDestination,
  listBatchFiles,
  saveBatchFile,
  type PushBatch,
  type DestinationRow,
} from './destination-queries.ts';

/** Maximum number of rows in memory and in a file. */
const rowsAtOnce = 50_000;
const parquet = 'application/vnd.apache.parquet';

export type PushedBatch = PushBatch & { readonly files: number; readonly rowCount: number };
type PushedFile = { readonly path: string; readonly rows: number; readonly sizeBytes: number };

/**
 * Writes the next batch of a destination, or resumes the one in progress.
 *
 * @returns null if the destination no longer exists
 * @throws DestinationError, OvertakenError
 */
export async function pushBatch(
  parts: DatasetParts,
  bucket: DestinationBucket,
  row: DestinationRow,
  signal: AbortSignal,
): Promise<PushedBatch | null> {
  const { db, eventLog } = parts;
  const begun = { destinationId: row.destination_id, number: row.number, revision: row.revision };
  if (row.until === null) await beginBatch(db, begun, await eventLog.end());
  const current = await findDestination(db, row.destination_id);
  if (current === null) return null;
  const batch = { ...begun, number: current.number, revision: current.revision };
  const writer = await BatchWriter.open(db, bucket, { row: current, batch }, signal);
  for await (const { rows, days } of readBatch(parts, current, signal)) {
    await writer.add(rows, days);
  }
  const files = await writer.end();
  const rowCount = files.reduce((sum, { rows }) => sum + rows, 0);
  if (files.length > 0) {
    const { number } = batch;
    const manifest = { number, dataset: 'events', rows: rowCount, files };
    const bytes = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
    const key = `${folderOf(current)}/_manifests/${eightDigits(number)}.json`;
    await bucket.put(key, bytes, 'application/json', signal);
  }
  return { ...batch, files: files.length, rowCount };
}

/** Writes the columns of the files, for their readers. Also used to test a new destination. */
export async function putSchema(
  bucket: DestinationBucket,
  place: Pick<DestinationRow, 'prefix'>,
  signal: AbortSignal,
): Promise<void> {
  const columns = eventColumns.map(({ name, type, about }) => ({ name, type, description: about }));
  const bytes = Buffer.from(`${JSON.stringify({ dataset: 'events', columns }, null, 2)}\n`);
  await bucket.put(`${folderOf(place)}/_schema.json`, bytes, 'application/json', signal);
}

/** The events of a batch, with the days on which they happened. */
async function* readBatch(
  { db, eventLog }: DatasetParts,
  { organization_id: organizationId, position, until, filter, time_zone: timeZone }: DestinationRow,
  signal: AbortSignal,
): AsyncGenerator<{ rows: Row[]; days: number[] }> {
  if (until === null) return;
  const clock = clockOf(timeZone);
  const isWanted = await eventFilter({ db }, { organizationId, filter });
  for (let from = position; ;) {
    signal.throwIfAborted();
    const { blocks, next, isLast } = await eventLog.scan(from, {
      ...eventPage,
      organizationId,
      until,
    });
    const rows: Row[] = [];
    const days: number[] = [];
    for (const { receivedAt, decode } of blocks) {
      for (const event of decode() ?? []) {
        if (isWanted !== null && !isWanted(event)) continue;
        rows.push(toRow(event, receivedAt));
        days.push(clock.localOf(event.at));
      }
    }
    yield { rows, days };
    if (isLast) return;
    from = next;
  }
}

/**
 * Files that earlier attempts have written or were about to write, in which case the size is null.
 */
type KnownFiles = ReadonlyMap<string, { readonly sizeBytes: number | null }>;

type Target = { readonly row: DestinationRow; readonly batch: PushBatch };

/** Splits the rows of a batch into files, as a function of the rows alone. */
class BatchWriter {
  readonly #db: Db;
  readonly #bucket: DestinationBucket;
  readonly #target: Target;
  readonly #signal: AbortSignal;
  readonly #known: KnownFiles;
  readonly #files: PushedFile[] = [];
  #rowsByDay = new Map<string, Row[]>();
  #rows = 0;

  private constructor(
    db: Db,
    bucket: DestinationBucket,
    { target, known }: { target: Target; known: KnownFiles },
    signal: AbortSignal,
  ) {
    this.#db = db;
    this.#bucket = bucket;
    this.#target = target;
    this.#known = known;
    this.#signal = signal;
  }

  static async open(
    db: Db,
    bucket: DestinationBucket,
    target: Target,
    signal: AbortSignal,
  ): Promise<BatchWriter> {
    const files = await listBatchFiles(db, target.batch.destinationId);
    const known = new Map(files.map(({ key, ...file }) => [key, file]));
    return new BatchWriter(db, bucket, { target, known }, signal);
  }

  async add(rows: readonly Row[], days: readonly number[]): Promise<void> {
    for (const [index, row] of rows.entries()) {
      const day = new Date(days[index] ?? 0).toISOString().slice(0, 10);
      const ofDay = this.#rowsByDay.get(day);
      if (ofDay === undefined) this.#rowsByDay.set(day, [row]);
      else ofDay.push(row);
      this.#rows += 1;
      if (this.#rows >= rowsAtOnce) await this.#putAll();
    }
  }

  /** @returns the files of the batch, all uploaded */
  async end(): Promise<PushedFile[]> {
    await this.#putAll();
    const wanted = new Set(this.#files.map(({ path }) => path));
    for (const key of this.#known.keys()) {
      if (!wanted.has(key)) await this.#put(key, []);
    }
    return this.#files;
  }

  async #putAll(): Promise<void> {
    const byDay = [...this.#rowsByDay].toSorted(([a], [b]) => (a < b ? -1 : 1));
    this.#rowsByDay = new Map();
    this.#rows = 0;
    for (const [day, rows] of byDay) {
      const { row, batch } = this.#target;
      const file = String(this.#files.length + 1).padStart(4, '0');
      const key = `${folderOf(row)}/date=${day}/${eightDigits(batch.number)}-${file}.parquet`;
      const known = this.#known.get(key);
      const isThere = known !== undefined && known.sizeBytes !== null;
      const sizeBytes = isThere ? (known.sizeBytes ?? 0) : await this.#put(key, rows);
      this.#files.push({ path: key, rows: rows.length, sizeBytes });
    }
  }

  /** @throws OvertakenError */
  async #put(key: string, rows: readonly Row[]): Promise<number> {
    const { row, batch } = this.#target;
    const save = async (file: { rowCount: number | null; sizeBytes: number | null }) => {
      if (!(await saveBatchFile(this.#db, batch, { key, ...file })))
        throw new OvertakenExportError();
    };
    await save({ rowCount: null, sizeBytes: null });
    const bytes = await toParquet(rows, row.compression);
    await this.#bucket.put(key, bytes, parquet, this.#signal);
    await save({ rowCount: rows.length, sizeBytes: bytes.length });
    return bytes.length;
  }
}

async function toParquet(rows: readonly Row[], compression: Compression): Promise<Buffer> {
  const writer = createWriter(eventColumns, { format: 'parquet', compression }, nothingWritten);
  return Buffer.concat([...(await writer.write(rows)), ...(await writer.end())]);
}

function folderOf({ prefix }: Pick<DestinationRow, 'prefix'>): string {
  return prefix === '' ? 'events' : `${prefix}/events`;
}

function eightDigits(number: number): string {
  return String(number).padStart(8, '0');
}
