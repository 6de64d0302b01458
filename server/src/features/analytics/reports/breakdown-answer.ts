import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type, type TObject, type TProperties } from 'typebox';
import { answerReport, type CsvRows } from './answer.ts';
import type { BreakdownReport } from './breakdown.ts';
import type { ReportParts } from './report-parts.ts';

type Broken<Data, Row extends TObject, Metrics> = CsvRows<Row> & {
  readonly data: Data;
  readonly breakdown: BreakdownReport<Metrics> | null;
};

export async function answerBroken<Data, Row extends TObject, Metrics extends object>(
  request: FastifyRequest,
  reply: FastifyReply,
  parts: ReportParts,
  read: (parts: ReportParts) => Promise<Broken<Data, Row, Metrics>>,
) {
  return answerReport(request, reply, parts, async (asked) => withBreakdown(await read(asked)));
}

/**
 * With a breakdown, the CSV contains its rows, the rest and the total instead; `group` tells them
 * apart.
 */
export function withBreakdown<Data, Row extends TObject, Metrics extends object>({
  data,
  breakdown,
  row,
  rows,
}: Broken<Data, Row, Metrics>) {
  const broken = { ...data, ...(breakdown !== null && { breakdown }) };
  const csv: CsvRows<TObject> = breakdown === null ? { row, rows } : csvOf(breakdown);
  return { data: broken, ...csv };
}

function csvOf<Metrics extends object>(report: BreakdownReport<Metrics>): CsvRows<TObject> {
  const { dimensions, rows, other, total } = report;
  const none = Object.fromEntries(dimensions.map((name) => [name, null]));
  return {
    row: schemaOf({ group: '', ...none, ...total }),
    rows: [
      ...rows.map(({ values, metrics }) => ({ group: 'row', ...values, ...metrics })),
      ...(other === null ? [] : [{ group: 'other', ...none, ...other }]),
      { group: 'total', ...none, ...total },
    ],
  };
}

function schemaOf(row: object): TObject {
  const properties: TProperties = {};
  for (const [name, value] of Object.entries(row) as [string, unknown][]) {
    properties[name] = typeof value === 'object' && value !== null ? schemaOf(value) : Type.Any();
  }
  return Type.Object(properties);
}
