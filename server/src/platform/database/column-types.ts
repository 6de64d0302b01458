/** Column types that many tables share, as selected, inserted and updated. */
import type { ColumnType } from 'kysely';

export type StoredTimestamp = ColumnType<Date, Date | string, Date | string>;
export type DefaultTimestamp = ColumnType<Date, Date | string | undefined, Date | string>;
export type NullableTimestamp = ColumnType<
  Date | null,
  Date | string | null | undefined,
  Date | string | null
>;
/** Written as JSON text, read as a parsed value. */
export type Json<T> = ColumnType<T, string, string>;
