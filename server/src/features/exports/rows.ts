/** The data of an export: typed columns, and rows in batches. */
export type ColumnType = 'string' | 'integer' | 'number' | 'boolean' | 'timestamp' | 'json';

export type Column = { readonly name: string; readonly type: ColumnType };

/** By the names of the columns; null where there is no value. Timestamps are milliseconds. */
export type Row = Readonly<Record<string, unknown>>;

export type RowSource = {
  readonly columns: readonly Column[];
  /** Batches of some thousand rows, so that memory stays flat whatever the range. */
  readonly batches: AsyncIterable<readonly Row[]>;
};
