/** Writers of NDJSON, CSV and Parquet that another process can resume. */
import type { Column, Row } from '../datasets/dataset.ts';
import type { Compression, ExportFormat } from '../tables.ts';
import { createCompressor } from './compressors.ts';
import { ParquetFormatWriter } from './parquet-writer.ts';
import { csv, ndjson } from './text.ts';
import { TextWriter } from './text-writer.ts';

/** Writes one file. Each method returns its next bytes. */
export type FormatWriter = {
  write(rows: readonly Row[]): Promise<Uint8Array[]>;
  /** Returns everything pending. After this, the file can be resumed from `save`. */
  flush(): Promise<Uint8Array[]>;
  /** The state that a resuming writer needs in addition to the results of earlier `save` calls. */
  save(): string;
  end(): Promise<Uint8Array[]>;
};

export type FileKind = { readonly format: ExportFormat; readonly compression: Compression };

/** The part of a file already written by another writer. */
export type Written = { readonly states: readonly string[]; readonly sizeBytes: number };

export const nothingWritten: Written = { states: [], sizeBytes: 0 };

/** Parquet compresses its pages; the text formats are compressed as a whole. */
export function createWriter(
  columns: readonly Column[],
  { format, compression }: FileKind,
  written: Written,
): FormatWriter {
  if (format === 'parquet') return new ParquetFormatWriter(columns, compression, written);
  const last = written.states.at(-1);
  const compressor = createCompressor(compression, last === undefined ? null : JSON.parse(last));
  const text = format === 'csv' ? csv(columns) : ndjson(columns);
  return new TextWriter(text, compressor, last === undefined);
}

const endings = { none: '', gzip: '.gz', zstd: '.zst' } as const;

export function fileTypeOf({ format, compression }: FileKind): {
  ending: string;
  contentType: string;
} {
  if (format === 'parquet') {
    return { ending: 'parquet', contentType: 'application/vnd.apache.parquet' };
  }
  const ending = `${format}${endings[compression]}`;
  if (compression !== 'none') return { ending, contentType: `application/${compression}` };
  const contentType = format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson';
  return { ending, contentType };
}
