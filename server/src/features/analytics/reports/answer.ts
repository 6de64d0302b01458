/** How every report answers: as JSON with the moment that its numbers are of, or as CSV. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { IsObject, type Static, type TObject } from 'typebox';
import { csvLine, wantsCsv, type CsvValue } from '../../../platform/csv.ts';
import { readProjections } from '../../../platform/projections/queries.ts';
import type { ReportParts } from './report-parts.ts';

type Meta = { readonly asOf: string };

/** What a CSV of a report holds, and the schema of a row, whose fields are the columns. */
export type CsvRows<Row extends TObject> = {
  readonly row: Row;
  readonly rows: readonly Static<Row>[];
};

/** Answers a report: its data as JSON, or its rows as CSV. */
export async function answerReport<Data, Row extends TObject>(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  parts: ReportParts,
  report: CsvRows<Row> & { readonly data: Data },
): Promise<{ data: Data; meta: Meta }> {
  const meta = { asOf: await readAsOf(parts) };
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
export async function readAsOf({ db, eventLog }: ReportParts): Promise<string> {
  const nowMs = Date.now();
  const projections = await readProjections(db);
  const engagement = projections.find(({ name }) => name === 'engagement');
  const { ageMs } = await eventLog.backlog(engagement?.position ?? eventLog.start);
  return new Date(nowMs - ageMs).toISOString();
}

/**
 * A header and a line for each row, with the fields of nested objects under names such as
 * `startupTime.p50`. Without rows there is the header alone.
 */
export function toCsv<Row extends TObject>({ row: schema, rows }: CsvRows<Row>): string {
  const flat = rows.map((row) => new Map(fieldsOf('', row)));
  const names = [...columnsOf('', schema)];
  const lines = flat.map((row) => csvLine(names.map((name) => row.get(name) ?? null)));
  return `${[csvLine(names), ...lines].join('\r\n')}\r\n`;
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
