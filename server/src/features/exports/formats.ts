/** Encodes rows as NDJSON, CSV (RFC 4180) or Parquet, in one chunk of bytes per batch. */
import { Readable } from 'node:stream';
import { createGzip, gzipSync } from 'node:zlib';
import { ByteWriter, ParquetWriter, schemaFromColumnData } from 'hyparquet-writer';
import { csvLine, type CsvValue } from '../../platform/csv.ts';
import type { Column, ColumnType, Row, RowSource } from './rows.ts';
import type { Compression, Format } from './tables.ts';

export type Encoded = {
  readonly bytes: AsyncIterable<Uint8Array>;
  /** The number of rows written so far. */
  readonly rowCount: () => number;
};

/** Writes rows in a format. Parquet compresses its pages; the text formats are compressed as a whole. */
export function encodeRows(source: RowSource, format: Format, compression: Compression): Encoded {
  let rowCount = 0;
  const counted = {
    columns: source.columns,
    batches: (async function* () {
      for await (const batch of source.batches) {
        rowCount += batch.length;
        if (batch.length > 0) yield batch;
      }
    })(),
  };
  return { bytes: encode(counted, format, compression), rowCount: () => rowCount };
}

function encode(
  source: RowSource,
  format: Format,
  compression: Compression,
): AsyncIterable<Uint8Array> {
  if (format === 'parquet') return writeParquet(source, compression);
  const text = format === 'csv' ? writeCsv(source) : writeNdjson(source);
  if (compression === 'none') return text;
  return Readable.from(text).compose(createGzip());
}

/** The file extension and content type of each format. */
export function fileTypeOf(
  format: Format,
  compression: Compression,
): { ending: string; contentType: string } {
  if (format === 'parquet') {
    return { ending: 'parquet', contentType: 'application/vnd.apache.parquet' };
  }
  if (compression === 'gzip') return { ending: `${format}.gz`, contentType: 'application/gzip' };
  return {
    ending: format,
    contentType: format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson',
  };
}

async function* writeNdjson({ columns, batches }: RowSource): AsyncGenerator<Buffer> {
  for await (const batch of batches) {
    const lines = batch.map((row) => JSON.stringify(toObject(columns, row)));
    yield Buffer.from(`${lines.join('\n')}\n`);
  }
}

function toObject(columns: readonly Column[], row: Row): Record<string, unknown> {
  return Object.fromEntries(
    columns.map(({ name, type }) => {
      const value = row[name] ?? null;
      return [name, type === 'timestamp' ? toIso(value) : value];
    }),
  );
}

function toIso(value: unknown): string | null {
  return typeof value === 'number' ? new Date(value).toISOString() : null;
}

async function* writeCsv({ columns, batches }: RowSource): AsyncGenerator<Buffer> {
  yield Buffer.from(`${csvLine(columns.map(({ name }) => name))}\r\n`);
  for await (const batch of batches) {
    const lines = batch.map((row) =>
      csvLine(columns.map(({ name, type }) => toCell(type, row[name] ?? null))),
    );
    yield Buffer.from(`${lines.join('\r\n')}\r\n`);
  }
}

function toCell(type: ColumnType, value: unknown): CsvValue {
  if (value === null) return null;
  if (type === 'timestamp') return toIso(value);
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const parquetTypes = {
  string: 'STRING',
  integer: 'INT64',
  number: 'DOUBLE',
  boolean: 'BOOLEAN',
  timestamp: 'TIMESTAMP',
  json: 'JSON',
} as const satisfies Record<ColumnType, string>;

/** Writes one row group per batch and passes the bytes on at once, so memory stays flat. */
async function* writeParquet(
  { columns, batches }: RowSource,
  compression: Compression,
): AsyncGenerator<Uint8Array> {
  const buffer = new ByteWriter();
  const writer = new ParquetWriter({
    writer: buffer,
    schema: schemaFromColumnData({ columnData: columns.map((column) => toColumn(column, [])) }),
    codec: compression === 'gzip' ? 'GZIP' : 'UNCOMPRESSED',
    compressors: { GZIP: (input) => gzipSync(input) },
    createdBy: 'reelfeed',
  });
  for await (const batch of batches) {
    const columnData = columns.map((column) => toColumn(column, batch));
    await writer.write({ columnData, rowGroupSize: batch.length });
    yield take(buffer);
  }
  await writer.finish();
  yield take(buffer);
}

function toColumn({ name, type }: Column, rows: readonly Row[]) {
  return {
    name,
    type: parquetTypes[type],
    nullable: true,
    data: rows.map((row) => toParquet(type, row[name] ?? null)),
  };
}

function toParquet(type: ColumnType, value: unknown): unknown {
  if (value === null) return null;
  if (type === 'integer') return BigInt(Math.round(Number(value)));
  if (type === 'timestamp') return new Date(Number(value));
  return value;
}

/** The bytes written since the last call. `offset`, which locates pages, keeps counting. */
function take(buffer: ByteWriter): Uint8Array {
  const bytes = new Uint8Array(buffer.buffer.slice(0, buffer.index));
  buffer.index = 0;
  return bytes;
}
