import { gzipSync, zstdCompressSync } from 'node:zlib';
import { ByteWriter, ParquetWriter, schemaFromColumnData } from 'hyparquet-writer';
import type { Column, ColumnType, Row } from '../datasets/dataset.ts';
import type { Compression } from '../tables.ts';
import type { FormatWriter } from './formats.ts';

const parquetTypes = {
  string: 'STRING',
  integer: 'INT64',
  number: 'DOUBLE',
  boolean: 'BOOLEAN',
  timestamp: 'TIMESTAMP',
  json: 'JSON',
} as const satisfies Record<ColumnType, string>;

const codecs = { none: 'UNCOMPRESSED', gzip: 'GZIP', zstd: 'ZSTD' } as const;
/** Readers skip whole row groups; larger ones would only take more memory. */
const rowsOfGroup = 10_000;

type RowGroups = ParquetWriter['row_groups'];

/**
 * Writes Parquet one row group at a time. The footer of the file describes all row groups, so a
 * resuming writer receives the descriptions of the earlier ones.
 */
export class ParquetFormatWriter implements FormatWriter {
  readonly #columns: readonly Column[];
  readonly #bytes = new ByteWriter();
  readonly #writer: ParquetWriter;
  #rows: Row[] = [];
  #savedGroups: number;

  /** @param saved results of `save`, and the size of the file so far */
  constructor(
    columns: readonly Column[],
    compression: Compression,
    { states, sizeBytes }: { states: readonly string[]; sizeBytes: number },
  ) {
    this.#columns = columns;
    this.#writer = new ParquetWriter({
      writer: this.#bytes,
      schema: schemaFromColumnData({ columnData: columns.map((column) => toColumn(column, [])) }),
      codec: codecs[compression],
      compressors: {
        GZIP: (input) => gzipSync(input),
        ZSTD: (input) => zstdCompressSync(input),
      },
      createdBy: 'reelfeed',
    });
    const groups = states.flatMap((state) => JSON.parse(state, toBigInt) as RowGroups);
    if (sizeBytes > 0) {
      // The file begins in an earlier part.
      this.#bytes.index = 0;
      this.#bytes.offset = sizeBytes;
    }
    for (const group of groups) {
      this.#writer.row_groups.push(group);
      this.#writer.num_rows += group.num_rows;
    }
    this.#savedGroups = groups.length;
  }

  async write(rows: readonly Row[]): Promise<Uint8Array[]> {
    for (const row of rows) this.#rows.push(row);
    if (this.#rows.length >= rowsOfGroup) await this.#writeGroup();
    return this.#take();
  }

  async flush(): Promise<Uint8Array[]> {
    if (this.#rows.length > 0) await this.#writeGroup();
    return this.#take();
  }

  async end(): Promise<Uint8Array[]> {
    const rest = await this.flush();
    await this.#writer.finish();
    return [...rest, ...this.#take()];
  }

  /** The row groups since the last call. */
  save(): string {
    const groups = this.#writer.row_groups.slice(this.#savedGroups);
    this.#savedGroups = this.#writer.row_groups.length;
    return JSON.stringify(groups, fromBigInt);
  }

  async #writeGroup(): Promise<void> {
    const rows = this.#rows;
    this.#rows = [];
    const columnData = this.#columns.map((column, index) => toColumn(column, rows, index));
    await this.#writer.write({ columnData, rowGroupSize: rows.length });
  }

  /** The bytes since the last call. `offset`, which locates pages, keeps counting. */
  #take(): Uint8Array[] {
    if (this.#bytes.index === 0) return [];
    const bytes = new Uint8Array(this.#bytes.buffer.slice(0, this.#bytes.index));
    this.#bytes.index = 0;
    return [bytes];
  }
}

function toColumn({ name, type }: Column, rows: readonly Row[], index = 0) {
  return {
    name,
    type: parquetTypes[type],
    nullable: true,
    // Minimum and maximum texts are of no use here and slow to compute.
    statistics: type !== 'string' && type !== 'json',
    // Offset indexes would have to be kept until the end of the file.
    offsetIndex: false,
    data: rows.map((row) => toParquet(type, row[index] ?? null)),
  };
}

function toParquet(type: ColumnType, value: unknown): unknown {
  if (value === null) return null;
  if (type === 'integer' || type === 'timestamp') return BigInt(Math.round(Number(value)));
  return value;
}

function fromBigInt(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? { bigint: String(value) } : value;
}

function toBigInt(_key: string, value: unknown): unknown {
  const isBigInt = typeof value === 'object' && value !== null && 'bigint' in value;
  return isBigInt ? BigInt(String(value.bigint)) : value;
}
