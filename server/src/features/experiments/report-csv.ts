/**
 * Results as a table: one line per variant and metric, for the whole experiment, segments and days.
 */
import { csvLine, type CsvValue } from '../../platform/values/csv.ts';
import type { readReport } from './report.ts';

type Report = Awaited<ReturnType<typeof readReport>>;

const columns = [
  'part',
  'segment',
  'date',
  'variant',
  'participants',
  'metric',
  'value',
  'lift',
  'liftLower',
  'liftUpper',
  'pValue',
  'confidence',
  'significant',
  'reason',
] as const;
type Line = Partial<Record<(typeof columns)[number], CsvValue>>;

type Judged = {
  readonly value: number;
  readonly lift?: number | null;
  readonly liftInterval?: readonly [number, number] | null;
  readonly pValue?: number | null;
  readonly confidence?: number;
  readonly significant?: boolean;
  readonly reason?: string | null;
};

export function reportCsv(report: Report): string {
  const lines = [...wholeOf(report), ...guardrailsOf(report), ...partsOf(report)];
  const rows = lines.map((line) => csvLine(columns.map((column) => line[column] ?? null)));
  return `${[csvLine([...columns]), ...rows].join('\r\n')}\r\n`;
}

function judged(result: Judged): Line {
  const { value, lift = null, liftInterval, pValue = null } = result;
  return {
    value,
    lift,
    liftLower: liftInterval?.[0] ?? null,
    liftUpper: liftInterval?.[1] ?? null,
    pValue,
    confidence: result.confidence ?? null,
    significant: result.significant ?? null,
    reason: result.reason ?? null,
  };
}

function wholeOf({ variants }: Report): Line[] {
  return variants.flatMap(({ id: variant, participants, metrics }) =>
    Object.entries(metrics).map(([metric, result]) => ({
      part: 'results',
      variant,
      participants,
      metric,
      ...judged(result as Judged),
    })),
  );
}

function guardrailsOf({ guardrails }: Report): Line[] {
  return guardrails.flatMap(({ metric, variants }) =>
    variants.map(({ id: variant, status, lift, liftInterval }) => ({
      part: 'guardrail',
      variant,
      metric,
      lift,
      liftLower: liftInterval?.[0] ?? null,
      liftUpper: liftInterval?.[1] ?? null,
      reason: status,
    })),
  );
}

function partsOf(report: Report): Line[] {
  const { segments, timeline } = report as {
    segments?: { metric: string; values: { value: string; variants: Variant[] }[] };
    timeline?: { metric: string; points: { date: string; variants: Variant[] }[] };
  };
  type Variant = Judged & { readonly id: string; readonly participants: number };
  const lineOf = (metric: string, { id, participants, ...result }: Variant): Line => ({
    variant: id,
    participants,
    metric,
    ...judged(result),
  });
  return [
    ...(segments?.values ?? []).flatMap(({ value, variants }) =>
      variants.map((variant) => ({
        part: 'segment',
        segment: value,
        ...lineOf(segments?.metric ?? '', variant),
      })),
    ),
    ...(timeline?.points ?? []).flatMap(({ date, variants }) =>
      variants.map((variant) => ({
        part: 'day',
        date,
        ...lineOf(timeline?.metric ?? '', variant),
      })),
    ),
  ];
}
