/**
 * Results of one metric by segment and over time. They may be read at any time and any number of
 * times, so they are judged by an always-valid sequence even if the experiment has a planned end.
 */
import type { Db } from '../../platform/database/database.ts';
import { ApiError, fieldError } from '../../platform/http/errors.ts';
import { selectMetrics } from '../metrics/metrics.ts';
import { readArms } from './arms.ts';
import { controlOf, planOf, type ExperimentRow } from './experiment.ts';
import { emptySample } from './own-samples.ts';
import { daysSinceStart } from './analyse-arms.ts';
import { alwaysValid } from './statistics/always-valid.ts';
import {
  judge,
  testMetric,
  withholding,
  type ArmData,
  type MetricResult,
  type MetricTest,
  type Reason,
  type TreatmentResult,
} from './statistics/analysis.ts';
import type { Sample } from './statistics/estimates.ts';
import { isBuiltIn, metricNames } from './statistics/metric-names.ts';
import { checkSampleRatio } from './statistics/sample-ratio.ts';
import { watchCap } from './units/arm-queries.ts';
import {
  segmentExpressions,
  selectValues,
  type MeasuredMetric,
  type ValueQuestion,
  type ValueRow,
} from './units/value-queries.ts';

export const segmentNames = ['country', 'device', 'newOrReturning', 'appVersion'] as const;
export type SegmentName = (typeof segmentNames)[number];
const maxSegments = 20;

/** A metric of an experiment, with what is needed to read it. */
export type Measure = {
  readonly row: ExperimentRow;
  readonly name: string;
  readonly metric: MeasuredMetric;
  readonly until: Date;
  readonly capMs: number;
  /** Why no judgement is given, or null if one is. */
  readonly withheld: Reason | null;
};

/** @throws ApiError VALIDATION_ERROR if the metric does not exist */
export async function openMeasure(
  db: Db,
  row: ExperimentRow,
  now: Date,
  name = row.primary_metric,
): Promise<Measure> {
  const own = isBuiltIn(name)
    ? null
    : (await selectMetrics(db, row.organization_id)).find((metric) => metric.name === name);
  if (own === undefined) {
    throw fieldError(
      'metric',
      `must be one of ${metricNames.join(', ')}, or a metric that you have defined`,
    );
  }
  if (row.status === 'draft') {
    throw new ApiError('CONFLICT', { message: 'The experiment has not been started yet.' });
  }
  const until = row.ended_at ?? now;
  const { arms } = await readArms(db, row, until);
  const assigned = arms.map((arm) => ({ units: arm.assigned, weight: arm.weight }));
  const units = assigned.reduce((sum, arm) => sum + arm.units, 0);
  return {
    row,
    name,
    metric: own ?? (name as MeasuredMetric),
    until,
    capMs: await watchCap(db, row.number, units),
    withheld: withholding(planOf(row), checkSampleRatio(assigned), daysSinceStart(row, until)),
  };
}

/** Reads the values of a metric for each variant. `change` selects another time or segments. */
export async function readValues(
  db: Db,
  { row, metric, until, capMs }: Measure,
  change: Partial<ValueQuestion>,
): Promise<ValueRow[]> {
  const whole = { after: null, isPast: false, segment: null };
  return selectValues(db, {
    experimentNumber: row.number,
    metric,
    until,
    lastDay: until,
    capMs,
    ...whole,
    ...change,
  });
}

/** Compares the variants without deciding. Samples are in the order of the variants. */
export function compareValues(
  { row, metric, withheld }: Measure,
  rows: readonly ValueRow[],
): { readonly test: MetricTest; readonly units: readonly number[] } {
  const samples = row.variants.map(
    (_, index) => rows.find(({ variant }) => variant === index)?.sample ?? emptySample(metric),
  );
  const arms = row.variants.map(({ id, traffic }, index) =>
    armOf(id, traffic, samples[index] ?? emptySample(metric)),
  );
  const plan = { ...planOf(row), controlId: controlOf(row.variants).id };
  return {
    test: testMetric(asked, arms, plan, withheld),
    units: samples.map(({ units }) => units),
  };
}

const asked = 'asked';
const nobody = { mean: 0, variance: 0 };
const noSample = { units: 0, outcome: nobody, covariate: nobody, covariance: 0 };

/** An arm with nothing but the requested metric. */
function armOf(variantId: string, weight: number, sample: Sample): ArmData {
  return {
    variantId,
    weight,
    assigned: sample.units,
    completionRate: { units: 0, numerator: nobody, denominator: nobody, covariance: 0 },
    watchTime: noSample,
    sessionsPerUser: noSample,
    retention: { units: 0, successes: 0 },
    own: { [asked]: sample },
  };
}

export function sequenceOf(row: ExperimentRow) {
  const { tunedTo, alpha } = planOf(row);
  return alwaysValid({ tunedTo, alpha });
}

/**
 * One metric by segment. All comparisons of the table form one family, corrected by Holm's method.
 */
export async function readBreakdownSegments(db: Db, measure: Measure, dimension: SegmentName) {
  const { row } = measure;
  const rows = await readValues(db, measure, { segment: segmentExpressions[dimension] });
  const found = [...Map.groupBy(rows, ({ segment }) => segment ?? 'unknown')]
    .map(([value, own]) => ({ value, ...compareValues(measure, own) }))
    .map((one) => ({ ...one, total: one.units.reduce((sum, units) => sum + units, 0) }))
    .toSorted((a, b) => b.total - a.total || (a.value < b.value ? -1 : 1));
  const shown = found.slice(0, maxSegments);
  const tests = shown.map(({ test }) => test);
  judge(tests, planOf(row), sequenceOf(row));
  return {
    dimension,
    metric: measure.name,
    correction: 'holm' as const,
    comparisons: tests.reduce((sum, { pending }) => sum + pending.length, 0),
    leftOut: found.length - shown.length,
    values: shown.map(({ value, test, units }) => ({
      value,
      variants: row.variants.map(({ id }, index) => ({
        id,
        participants: units[index] ?? 0,
        ...presentResult(test.results[index] ?? test.control),
      })),
    })),
  };
}

function presentResult(result: MetricResult | TreatmentResult) {
  const { minimumDetectableEffect: _, ...rest } = { minimumDetectableEffect: null, ...result };
  return rest;
}
