/** The page behind a share link: plain, read-only HTML without scripts. */
import { createHash } from 'node:crypto';
import type { ExperimentRow } from '../experiment.ts';
import type { readReport } from '../report.ts';

type Report = Awaited<ReturnType<typeof readReport>>;
type Judged = {
  readonly value: number;
  readonly confidence: number;
  readonly lift?: number | null;
  readonly liftInterval?: readonly [number, number] | null;
  readonly significant?: boolean;
};

const style = `
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0 2rem; width: 100%; }
th, td { border-bottom: 1px solid #ccc; padding: 0.4rem 0.6rem; text-align: left; }
td.number, th.number { font-variant-numeric: tabular-nums; text-align: right; }
.harmed { color: #a4001d; font-weight: 600; }
p.note { color: #555; }
`;
const styleHash = createHash('sha256').update(style).digest('base64');

export const sharedPageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`,
} as const;

export function sharedPage(
  row: Pick<ExperimentRow, 'name' | 'description'>,
  report: Report,
): string {
  const { status, duration, asOf, variants, recommendation, guardrails } = report;
  const nameOf = (id: string) => variants.find((variant) => variant.id === id)?.name ?? id;
  const metrics = [...new Set(variants.flatMap((variant) => Object.keys(variant.metrics)))];
  const verdict =
    recommendation.winner === null
      ? `No winner (${recommendation.reason ?? 'none yet'}).`
      : `Recommended: ${nameOf(recommendation.winner)}.`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${text(row.name)}: results</title>
<style>${style}</style>
</head>
<body>
<h1>${text(row.name)}</h1>
${row.description === null ? '' : `<p>${text(row.description)}</p>`}
<p class="note">${text(status)}, ${duration.days} ${duration.days === 1 ? 'day' : 'days'}${asOf === null ? '' : `, as of ${text(asOf)}`}</p>
<p><strong>${text(verdict)}</strong></p>
${metrics.map((metric) => metricTable(metric, variants)).join('\n')}
${guardrails.length === 0 ? '' : guardrailTable(guardrails, nameOf)}
</body>
</html>
`;
}

function metricTable(metric: string, variants: Report['variants']): string {
  const rows = variants.map(({ name, participants, metrics }) => {
    const result = metrics[metric] as Judged | undefined;
    return tableRow([
      text(name),
      String(participants),
      result === undefined ? '–' : number(result.value),
      percent(result?.lift ?? null),
      interval(result?.liftInterval ?? null),
      result === undefined ? '–' : percent(result.confidence),
    ]);
  });
  return table(
    metric,
    ['Variant', 'Participants', 'Value', 'Lift', 'Interval', 'Confidence'],
    rows,
  );
}

function guardrailTable(guardrails: Report['guardrails'], nameOf: (id: string) => string): string {
  const rows = guardrails.flatMap(({ metric, margin, variants }) =>
    variants.map(({ id, status, lift, liftInterval }) =>
      tableRow([
        `${text(metric)}: ${text(nameOf(id))}`,
        percent(margin),
        percent(lift),
        interval(liftInterval),
        status === 'harmed' ? '<span class="harmed">harmed</span>' : text(status),
      ]),
    ),
  );
  return table('Guardrails', ['Guardrail', 'Margin', 'Lift', 'Interval', 'Status'], rows);
}

function table(caption: string, heads: readonly string[], rows: readonly string[]): string {
  const head = heads.map(
    (name, index) => `<th scope="col"${index === 0 ? '' : ' class="number"'}>${name}</th>`,
  );
  return `<h2>${text(caption)}</h2>
<table><thead><tr>${head.join('')}</tr></thead><tbody>
${rows.join('\n')}
</tbody></table>`;
}

/** @param cells HTML; the first is the row header */
function tableRow([first = '', ...cells]: readonly string[]): string {
  const others = cells.map((cell) => `<td class="number">${cell}</td>`);
  return `<tr><th scope="row">${first}</th>${others.join('')}</tr>`;
}

function number(value: number): string {
  return String(Number(value.toPrecision(4)));
}

function percent(share: number | null): string {
  return share === null ? '–' : `${(share * 100).toFixed(1)} %`;
}

function interval(bounds: readonly [number, number] | null): string {
  return bounds === null ? '–' : `${percent(bounds[0])} to ${percent(bounds[1])}`;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function text(raw: string): string {
  return raw.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character);
}
