/** The page behind a link to a report: plain HTML without scripts. */
import { createHash } from 'node:crypto';
import type { ReportRun } from '../../analytics/analytics.ts';
import type { ReportRow } from '../queries.ts';
import type { ReportDays } from '../schedule.ts';

const style = `
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; }
div { overflow-x: auto; }
table { border-collapse: collapse; margin: 1rem 0 2rem; }
th, td { border-bottom: 1px solid #ccc; padding: 0.4rem 0.6rem; text-align: left; white-space: nowrap; }
td.number { font-variant-numeric: tabular-nums; text-align: right; }
p.note { color: #555; }
`;
const styleHash = createHash('sha256').update(style).digest('base64');

export const linkedPageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`,
} as const;

export function linkedPage(
  { name, report }: Pick<ReportRow, 'name' | 'report'>,
  { startDate, endDate }: ReportDays,
  { table, asOf }: Pick<ReportRun, 'table' | 'asOf'>,
): string {
  const head = table.columns.map((column) => `<th scope="col">${escape(column)}</th>`).join('');
  const rows = table.rows.map((row) => `<tr>${row.map((value) => cell(value)).join('')}</tr>`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escape(name)}</title>
<style>${style}</style>
</head>
<body>
<h1>${escape(name)}</h1>
<p class="note">${escape(report)}, ${escape(startDate)} to ${escape(endDate)}, as of ${escape(asOf)}</p>
<div tabindex="0" role="region" aria-label="Rows"><table><thead><tr>${head}</tr></thead><tbody>
${rows.join('\n')}
</tbody></table></div>
</body>
</html>
`;
}

function cell(value: string | number | boolean | null): string {
  if (value === null) return '<td>–</td>';
  if (typeof value === 'number') {
    return `<td class="number">${Number.isInteger(value) ? value : Number(value.toPrecision(6))}</td>`;
  }
  return `<td>${escape(String(value))}</td>`;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escape(raw: string): string {
  return raw.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character);
}
