/** Rows as the text of NDJSON and CSV (RFC 4180). */
import { csvLine, type CsvValue } from '../../../platform/csv.ts';
import type { Column, ColumnType, Row } from '../datasets/dataset.ts';

/** What a text format writes: a header, and then rows. */
export type TextFormat = {
  readonly header: string;
  readonly rows: (rows: readonly Row[]) => string;
};

/** One JSON object a line. Names are quoted once, since this is most of the work of an export. */
export function ndjson(columns: readonly Column[]): TextFormat {
  const starts = columns.map(({ name }, index) => `${index === 0 ? '{' : ','}"${name}":`);
  const toJson = columns.map(({ type }) => (type === 'timestamp' ? quotedIso : JSON.stringify));
  return {
    header: '',
    rows(rows) {
      let text = '';
      for (const row of rows) {
        for (let index = 0; index < starts.length; index += 1) {
          const value = row[index];
          text += starts[index];
          text += value === null || value === undefined ? 'null' : toJson[index]?.(value);
        }
        text += '}\n';
      }
      return text;
    },
  };
}

export function csv(columns: readonly Column[]): TextFormat {
  const types = columns.map(({ type }) => type);
  const line = (row: Row) => csvLine(types.map((type, index) => toCell(type, row[index] ?? null)));
  return {
    header: `${csvLine(columns.map(({ name }) => name))}\r\n`,
    rows: (rows) => (rows.length === 0 ? '' : `${rows.map(line).join('\r\n')}\r\n`),
  };
}

function toCell(type: ColumnType, value: unknown): CsvValue {
  if (value === null) return null;
  if (type === 'timestamp') return iso(value);
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function quotedIso(value: unknown): string {
  return `"${iso(value)}"`;
}

const minuteMs = 60_000;
const twoDigits = Array.from({ length: 60 }, (_, value) => String(value).padStart(2, '0'));
const threeDigits = Array.from({ length: 1_000 }, (_, value) => String(value).padStart(3, '0'));
let lastMinute = NaN;
let lastPrefix = '';

/** As `Date.toISOString`, at a fifth of the cost: most rows share the minute with the one before. */
function iso(value: unknown): string {
  const ms = Math.round(Number(value));
  const minute = Math.floor(ms / minuteMs);
  if (minute !== lastMinute) {
    lastPrefix = new Date(minute * minuteMs).toISOString().slice(0, -7);
    lastMinute = minute;
  }
  const rest = ms - minute * minuteMs;
  return `${lastPrefix}${twoDigits[Math.floor(rest / 1_000)]}.${threeDigits[rest % 1_000]}Z`;
}
