/** How every report answers: as JSON with the moment that its numbers are of, or as CSV. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { csvLine } from '../../../platform/csv.ts';
import { readProjections } from '../../../platform/projections/queries.ts';
import type { ReportParts } from './report-parts.ts';

type Meta = { readonly asOf: string };

/**
 * Answers a report.
 *
 * @param rows what a CSV of it holds: flat or nested objects with the same fields
 */
export async function answerReport<Data>(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  parts: ReportParts,
  report: { readonly data: Data; readonly rows: readonly object[] },
): Promise<{ data: Data; meta: Meta }> {
  const meta = { asOf: await readAsOf(parts) };
  reply.header('vary', 'Accept');
  if (wantsCsv(headers.accept)) await sendCsv(reply, meta, report.rows);
  return { data: report.data, meta };
}

export function wantsCsv(accept: string | undefined): boolean {
  return (accept ?? '').split(',').some((type) => /^\s*text\/csv\s*(;|$)/i.test(type));
}

export async function sendCsv(
  reply: FastifyReply,
  { asOf }: Meta,
  rows: readonly object[],
): Promise<void> {
  await reply.type('text/csv; charset=utf-8').header('x-as-of', asOf).send(toCsv(rows));
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

/** A line for each row, with the fields of nested objects under names such as `startupTime.p50`. */
export function toCsv(rows: readonly object[]): string {
  const flat = rows.map((row) => new Map(fieldsOf('', row)));
  const names = [...new Set(flat.flatMap((row) => [...row.keys()]))];
  const lines = flat.map((row) => csvLine(names.map((name) => row.get(name) ?? '')));
  return `${[csvLine(names), ...lines].join('\r\n')}\r\n`;
}

function* fieldsOf(prefix: string, value: object): Generator<[name: string, text: string]> {
  for (const [name, field] of Object.entries(value) as [string, unknown][]) {
    if (typeof field === 'object' && field !== null) yield* fieldsOf(`${prefix}${name}.`, field);
    else yield [`${prefix}${name}`, textOf(field)];
  }
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
