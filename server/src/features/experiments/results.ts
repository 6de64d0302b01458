/** The results of an experiment: the analysis of its arms in the format of the API. */
import { inTransaction, type Db, type Tx } from '../../platform/database/database.ts';
import { formatTimestamp } from '../../platform/time.ts';
import { readArms } from './arms.ts';
import type { ExposureCount } from './assignments/exposure-queries.ts';
import { controlOf, planOf, type ExperimentRow } from './experiment.ts';
import { clockOfPlan, inferenceAt, inferenceOfLook, lookDue, monitoringBy } from './inference.ts';
import { wholeDays } from './looks.ts';
import { lockExperiment, saveLook } from './queries.ts';
import { unevenSegments } from './segments.ts';
import { decreasingOf, readOwnMetrics } from './own-metrics.ts';
import { analyse, type Analysis, type ArmData, type MetricResult } from './statistics/analysis.ts';
import type { GuardrailPlan } from './statistics/guardrails.ts';
import { noLook, type Monitoring } from './statistics/monitoring.ts';
import { sampleFactor } from './statistics/power.ts';

export type Results = ReturnType<typeof presentResults>;
/** The stored state of a running experiment: its last look and the results of that look. */
export type Look = { readonly look: number; readonly results: Results };

/** With at least this many participants, results between looks are calculated once a minute. */
const manyParticipants = 100_000;
/** A background job recalculates them before they reach this age. */
const keptMs = 2 * 60_000;
export const renewedAfterMs = 60_000;

/**
 * The results to show at a given time. Ended experiments have frozen results. Experiments with a
 * planned end show their last look, which is taken now if due. All others are current; with many
 * participants they may be slightly older, as `asOf` says.
 */
export async function readResults(db: Db, row: ExperimentRow, now: Date): Promise<Results> {
  if (row.status === 'draft') return computeResults(db, row, now, noLook);
  if (row.status !== 'running') return row.results as Results;
  const due = lookDue(row, now);
  const kept = row.results as Look | null;
  if (due < 0) {
    const isFresh = ageOf(kept, now) < keptMs;
    return kept !== null && isFresh ? kept.results : computeBetweenLooks(db, row, now);
  }
  return kept !== null && kept.look >= due ? kept.results : takeLook(db, row, now);
}

/** The age of the stored results; Infinity if there are none. */
export function ageOf(kept: Look | null, now: Date): number {
  const asOf = kept?.results.asOf ?? null;
  return asOf === null ? Infinity : now.getTime() - Date.parse(asOf);
}

/** Calculates current results, and stores them if that is expensive. */
export async function computeBetweenLooks(db: Db, row: ExperimentRow, now: Date): Promise<Results> {
  const monitoring = await monitoringBy(row, inferenceAt(row, now));
  const results = await computeResults(db, row, now, monitoring);
  const participants = results.variants.reduce((sum, variant) => sum + variant.participants, 0);
  if (participants >= manyParticipants) await saveLook(db, row, { look: -1, results });
  return results;
}

/** Takes the look that is due, unless another process has already taken it. */
export async function takeLook(
  db: Db,
  { organization_id, experiment_id }: ExperimentRow,
  now: Date,
) {
  return inTransaction(db, async (tx) => {
    const row = await lockExperiment(tx, organization_id, experiment_id);
    if (row === null || row.status !== 'running') throw new Error('The experiment has just ended.');
    const due = lookDue(row, now);
    const kept = row.results as Look | null;
    if (kept !== null && kept.look >= due) return kept.results;
    const monitoring = await monitoringBy(row, inferenceOfLook(row, due));
    const results = await computeResults(tx, row, now, monitoring);
    await saveLook(tx, row, { look: due, results } satisfies Look);
    return results;
  });
}

export function isLookDue(row: ExperimentRow, now: Date): boolean {
  return lookDue(row, now) > ((row.results as Look | null)?.look ?? -1);
}

/**
 * The final results of an experiment. The planned end is its last look. An earlier end falls
 * between two looks, so the results of the last look are kept.
 */
export async function freezeResults(tx: Tx, row: ExperimentRow, endedAt: Date): Promise<Results> {
  const due = lookDue(row, endedAt);
  const kept = row.results as Look | null;
  if (due >= 0 && kept !== null && kept.look >= due) {
    const { experimentId, status, duration } = framing(row, endedAt);
    return { ...kept.results, experimentId, status, duration };
  }
  const monitoring = await monitoringBy(row, inferenceAt(row, endedAt));
  return computeResults(tx, row, endedAt, monitoring);
}

export async function computeResults(
  db: Db,
  row: ExperimentRow,
  asOf: Date,
  monitoring: Monitoring,
): Promise<Results> {
  const { arms, exposures } = await readArms(db, row, asOf);
  const decreasing = decreasingOf(await readOwnMetrics(db, row));
  const analysis = analyseArms(row, arms, asOf, monitoring, decreasing);
  const participants = arms.map(({ assigned }) => assigned);
  return presentResults(row, asOf, { analysis, participants, exposures, monitoring });
}

export function analyseArms(
  row: ExperimentRow,
  arms: readonly ArmData[],
  asOf: Date,
  monitoring: Monitoring,
  decreasing: ReadonlySet<string> = new Set(),
): Analysis {
  const plan = {
    ...planOf(row),
    metrics: row.metrics,
    primaryMetric: row.primary_metric,
    guardrails: row.guardrails,
    decreasing,
    controlId: controlOf(row.variants).id,
  };
  return analyse(arms, plan, monitoring, daysOf(row, asOf));
}

export function daysOf(row: ExperimentRow, asOf: Date): number {
  const { started_at: startedAt } = row;
  if (startedAt === null) return 0;
  return Math.max(0, wholeDays(clockOfPlan(row), startedAt.getTime(), asOf.getTime()));
}

function framing(row: ExperimentRow, asOf: Date) {
  return {
    experimentId: row.experiment_id,
    status: row.status,
    duration: {
      days: daysOf(row, asOf),
      startedAt: formatTimestamp(row.started_at),
    },
  };
}

type Found = {
  analysis: Analysis;
  participants: readonly number[];
  exposures: readonly ExposureCount[];
  monitoring: Monitoring;
};

function presentResults(row: ExperimentRow, asOf: Date, found: Found) {
  const { arms, recommendation, sampleRatio } = found.analysis;
  const { winnerIndex, ...rest } = recommendation;
  return {
    ...framing(row, asOf),
    asOf: row.started_at === null ? null : formatTimestamp(asOf),
    inference: inferenceOf(row, found),
    variants: row.variants.map(({ id, name }, index) => ({
      id,
      name,
      participants: found.participants[index] ?? 0,
      metrics: Object.fromEntries(
        Object.entries(arms[index]?.metrics ?? {}).map(([metric, result]) => [
          metric,
          presentMetric(result),
        ]),
      ),
    })),
    recommendation: {
      winner: winnerIndex === null ? null : (row.variants[winnerIndex]?.id ?? null),
      ...rest,
    },
    guardrails: presentGuardrails(row, found.analysis),
    health: {
      srm: { ...sampleRatio, segments: unevenSegments(row.variants, found.exposures) },
      unitsInSeveralVariants: found.exposures.reduce((sum, { crossed }) => sum + crossed, 0),
    },
  };
}

/** The kind of inference. Doing without a planned end requires more participants. */
function inferenceOf(row: ExperimentRow, { monitoring, participants }: Found) {
  if (row.ends_at !== null) return { kind: 'planned_end' as const, sampleFactor: null };
  const { alpha } = planOf(row);
  const units = (2 * participants.reduce((sum, each) => sum + each, 0)) / participants.length;
  const factor = units < 2 ? null : sampleFactor(monitoring.nominalLevel(alpha, units), alpha);
  return { kind: 'always_valid' as const, sampleFactor: factor };
}

type GuardedVariant = {
  readonly id: string;
  readonly status: 'passed' | 'harmed' | 'undecided';
  readonly lift: number | null;
  readonly liftInterval: readonly [number, number] | null;
  readonly harmedAt: string | null;
};
type Guarded = GuardrailPlan & { readonly variants: readonly GuardedVariant[] };

function presentGuardrails(row: ExperimentRow, { guardrails }: Analysis): Guarded[] {
  return guardrails.map(({ metric, margin, arms }) => ({
    metric,
    margin,
    variants: row.variants.flatMap(({ id }, index) => {
      const arm = arms[index];
      if (arm == null) return [];
      const { isPassed, lift, liftInterval } = arm;
      const status = isPassed ? 'passed' : 'undecided';
      return [{ id, status, lift, liftInterval, harmedAt: null }];
    }),
  }));
}

/**
 * Results with the harms that the guardrail watch has found, which does not wait for the next look.
 */
export function withHarms(results: Results, { harms }: Pick<ExperimentRow, 'harms'>): Results {
  if (harms.length === 0) return results;
  return {
    ...results,
    guardrails: results.guardrails.map((guardrail) => ({
      ...guardrail,
      variants: guardrail.variants.map((variant): GuardedVariant => {
        const harm = harms.find(
          (one) => one.metric === guardrail.metric && one.variant === variant.id,
        );
        if (harm === undefined) return variant;
        const { lift, liftInterval, at: harmedAt } = harm;
        return { ...variant, status: 'harmed' as const, lift, liftInterval, harmedAt };
      }),
    })),
  };
}

/** A metric as presented. Its minimum detectable effect appears only in the recommendation. */
function presentMetric(result: MetricResult): object {
  const { minimumDetectableEffect: _, ...rest } = { minimumDetectableEffect: null, ...result };
  return rest;
}
