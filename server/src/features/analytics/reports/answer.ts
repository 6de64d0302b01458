/** How every report answers: as JSON with the moment that its numbers are of, or as CSV. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { IsObject, type Static, type TObject } from 'typebox';
import { csvLine, wantsCsv, type CsvValue } from '../../../platform/csv.ts';
import { readBacklog } from '../../../platform/projections/backlog.ts';
import type { ReportParts } from './report-parts.ts';

type Meta = { readonly asOf: string };

/** What a CSV of a report holds, and the schema of a row, whose fields are the columns. */
export type CsvRows<Row extends TObject> = {
  readonly row: Row;
  readonly rows: readonly Static<Row>[];
};

/**
 * Reads a report and answers it: its data as JSON, or its rows as CSV.
 *
 * @param read is given the parts with the database that it should read; it may be called twice
 */
export async function answerReport<Data, Row extends TObject>(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  parts: ReportParts,
  read: (parts: ReportParts) => Promise<CsvRows<Row> & { readonly data: Data }>,
): Promise<{ data: Data; meta: Meta }> {
  const { asOf, report } = await parts.heavyReads.read(async (db) => {
    const asked = { ...parts, db };
    // Read before the numbers and from the same database, so that it promises no more than they hold.
    return { asOf: await readAsOf(asked), report: await read(asked) };
  });
  return answerWithMeta({ headers }, reply, { asOf }, report);
}

/** The same for a report that knows the moment that its numbers are of. */
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
 * The moment up to which everything that was answered is in the reports. Younger events may be in them
 * as well: it is as late as can be promised.
 */
export async function readAsOf(
  { db, eventLog }: Pick<ReportParts, 'db' | 'eventLog'>,
  projection = 'engagement',
): Promise<string> {
  const nowMs = Date.now();
  const { ageMs } = await readBacklog({ db, eventLog }, projection);
  return new Date(nowMs - ageMs).toISOString();
}

/** A header and a line for each row. Without rows there is the header alone. */
export function toCsv<Row extends TObject>(table: CsvRows<Row>): string {
  const { columns, rows } = flatten(table);
  return `${[columns, ...rows].map(csvLine).join('\r\n')}\r\n`;
}

export type FlatTable = {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly CsvValue[])[];
};

/** The fields of nested objects are columns with names such as `startupTime.p50`. */
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
