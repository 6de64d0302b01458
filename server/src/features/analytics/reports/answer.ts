/** Sends reports as JSON, with the time up to which their numbers are complete, or as CSV. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { IsObject, type Static, type TObject } from 'typebox';
import { csvLine, wantsCsv, type CsvValue } from '../../../platform/values/csv.ts';
import { readBacklog } from '../../../platform/projections/backlog.ts';
import type { ReportParts } from './report-parts.ts';

type Meta = { readonly asOf: string };

/** The rows of a CSV report, and the schema of a row, whose fields become the columns. */
export type CsvRows<Row extends TObject> = {
  readonly row: Row;
  readonly rows: readonly Static<Row>[];
};

/**
 * Reads a report and sends it as JSON or CSV.
 *
 * @param read receives the parts with the database to read from; it may be called twice
 */
export async function answerReport<Data, Row extends TObject>(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  parts: ReportParts,
  read: (parts: ReportParts) => Promise<CsvRows<Row> & { readonly data: Data }>,
): Promise<{ data: Data; meta: Meta }> {
  const { asOf, report } = await parts.heavyReads.read(async (db) => {
    const asked = { ...parts, db };
    // Read before the numbers and from the same database, so that it never claims more than they
    // contain.
    return { asOf: await readAsOf(asked), report: await read(asked) };
  });
  return answerWithMeta({ headers }, reply, { asOf }, report);
}

/** Like `answerReport`, for a report that provides its own `asOf`. */
export async function answerWithMeta<Data, Row extends TObject>(
  { headers }: Pick<FastifyRequest, 'headers'>,
  reply: FastifyReply,
  meta: Meta,
  report: CsvRows<Row> & { readonly data: Data },
): Promise<{ data: Data; meta: Meta }> {
  reply.header('vary', 'Accept');
  if (wantsCsv(headers.accept)) await sendCsv(reply, meta, report);
  return { data: report.data, meta };
}

async function sendCsv<Row extends TObject>(
  reply: FastifyReply,
  { asOf }: Meta,
  table: CsvRows<Row>,
): Promise<void> {
  await reply.type('text/csv; charset=utf-8').header('x-as-of', asOf).send(toCsv(table));
}

/**
 * The time up to which every acknowledged event is in the reports. Some later events may be
 * included too; this is the latest time that can be guaranteed.
 */
export async function readAsOf(
  { db, eventLog }: Pick<ReportParts, 'db' | 'eventLog'>,
  projection = 'engagement',
): Promise<string> {
  const nowMs = Date.now();
  const { ageMs } = await readBacklog({ db, eventLog }, projection);
  return new Date(nowMs - ageMs).toISOString();
}

/** A header and a line per row. Without rows, only the header. */
export function toCsv<Row extends TObject>(table: CsvRows<Row>): string {
  const { columns, rows } = flatten(table);
  return `${[columns, ...rows].map(csvLine).join('\r\n')}\r\n`;
}

export type FlatTable = {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly CsvValue[])[];
};

/** Fields of nested objects become columns such as `startupTime.p50`. */
export function flatten<Row extends TObject>({ row: schema, rows }: CsvRows<Row>): FlatTable {
  const columns = [...columnsOf('', schema)];
  return {
    columns,
    rows: rows.map((row) => {
      const fields = new Map(fieldsOf('', row));
      return columns.map((name) => fields.get(name) ?? null);
    }),
  };
}

function* columnsOf(prefix: string, { properties }: TObject): Generator<string> {
  for (const [name, field] of Object.entries(properties)) {
    if (IsObject(field)) yield* columnsOf(`${prefix}${name}.`, field);
    else yield `${prefix}${name}`;
  }
}

function* fieldsOf(prefix: string, value: object): Generator<[name: string, value: CsvValue]> {
  for (const [name, field] of Object.entries(value) as [string, unknown][]) {
    if (typeof field === 'object' && field !== null) yield* fieldsOf(`${prefix}${name}.`, field);
    else yield [`${prefix}${name}`, valueOf(field)];
  }
}

function valueOf(value: unknown): CsvValue {
  if (value === null || value === undefined) return null;
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
