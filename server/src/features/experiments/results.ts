/** The results of an experiment: the analysis of its arms in the format of the API. */
import { inTransaction, type Db, type Tx } from '../../platform/database/database.ts';
import { dayMs, formatTimestamp } from '../../platform/time.ts';
import { readArms } from './arms.ts';
import type { ExposureCount } from './assignments/exposure-queries.ts';
import { controlOf, type ExperimentRow, type JudgingPlan } from './experiment.ts';
import { lookDueAt, lookMoments, lookTimes } from './looks.ts';
import { lockExperiment, saveLook } from './queries.ts';
import { unevenSegments } from './segments.ts';
import { alwaysValid } from './statistics/always-valid.ts';
import { analyse, type Analysis, type ArmData, type MetricResult } from './statistics/analysis.ts';
import { groupSequential } from './statistics/group-sequential.ts';
import { noLook, type Monitoring } from './statistics/monitoring.ts';

/** The results of drafts, which have no data. */
export const defaultPlan: JudgingPlan = {
  alpha: 0.05,
  minimumDays: 7,
  minimumUnits: 100,
  minimumOutcomes: 5,
  tunedTo: 5_000,
};

export type Results = ReturnType<typeof presentResults>;
/** The stored state of a running experiment: its last look and the results of that look. */
export type Look = { readonly look: number; readonly results: Results };

/** From this number of participants on, results between looks are calculated once a minute. */
const manyParticipants = 100_000;
/** A chore recalculates them before they reach this age. */
const keptMs = 2 * 60_000;
export const renewedAfterMs = 60_000;

/**
 * The results as they are to be shown at a moment. Ended experiments have those that were frozen; ones
 * with a planned end those of the last look, which is taken now where it is due. Between looks they are
 * as of now; with many participants as of a moment ago, as `asOf` says.
 */
export async function readResults(db: Db, row: ExperimentRow, now: Date): Promise<Results> {
  if (row.status === 'draft') return computeResults(db, row, now, noLook);
  if (row.status !== 'running') return row.results as Results;
  const due = row.ends_at === null ? -1 : lookDueAt(momentsOf(row), now.getTime());
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

/** Calculates current results, and stores them if that takes long. */
export async function computeBetweenLooks(db: Db, row: ExperimentRow, now: Date): Promise<Results> {
  const results = await computeResults(db, row, now, monitoringAt(row, now));
  const participants = results.variants.reduce((sum, variant) => sum + variant.participants, 0);
  if (participants >= manyParticipants) await saveLook(db, row, { look: -1, results });
  return results;
}

/** Takes the due look, unless another process has taken it. */
export async function takeLook(
  db: Db,
  { organization_id, experiment_id }: ExperimentRow,
  now: Date,
) {
  return inTransaction(db, async (tx) => {
    const row = await lockExperiment(tx, organization_id, experiment_id);
    if (row === null || row.status !== 'running') throw new Error('The experiment has just ended.');
    const due = lookDueAt(momentsOf(row), now.getTime());
    const kept = row.results as Look | null;
    if (kept !== null && kept.look >= due) return kept.results;
    const results = await computeResults(tx, row, now, monitoringOf(row, due));
    await saveLook(tx, row, { look: due, results } satisfies Look);
    return results;
  });
}

/** Returns whether a running experiment has a due look. */
export function isLookDue(row: ExperimentRow, now: Date): boolean {
  if (row.ends_at === null) return false;
  const due = lookDueAt(momentsOf(row), now.getTime());
  return due > ((row.results as Look | null)?.look ?? -1);
}

/**
 * The results that stay when an experiment ends. Its planned end is its last look; an end before that
 * comes between two looks, so what the last one has found stays.
 */
export async function freezeResults(tx: Tx, row: ExperimentRow, endedAt: Date): Promise<Results> {
  const due = row.ends_at === null ? -1 : lookDueAt(momentsOf(row), endedAt.getTime());
  const kept = row.results as Look | null;
  if (due >= 0 && kept !== null && kept.look >= due) {
    const { experimentId, status, duration } = framing(row, endedAt);
    return { ...kept.results, experimentId, status, duration };
  }
  return computeResults(tx, row, endedAt, monitoringAt(row, endedAt));
}

function momentsOf(row: ExperimentRow): number[] {
  const [startMs, endMs] = [row.started_at?.getTime() ?? 0, row.ends_at?.getTime() ?? 0];
  return lookMoments(startMs, endMs, planOf(row).minimumDays);
}

function planOf({ plan }: ExperimentRow): JudgingPlan {
  return plan ?? defaultPlan;
}

function monitoringOf(row: ExperimentRow, look: number): Monitoring {
  const { tunedTo, alpha } = planOf(row);
  if (row.ends_at === null || row.started_at === null) return alwaysValid({ tunedTo, alpha });
  const times = lookTimes(momentsOf(row), row.started_at.getTime(), row.ends_at.getTime());
  return groupSequential(times, look);
}

export async function computeResults(
  db: Db,
  row: ExperimentRow,
  asOf: Date,
  monitoring: Monitoring,
): Promise<Results> {
  const { arms, exposures } = await readArms(db, row, asOf);
  const analysis = analyseArms(row, arms, asOf, monitoring);
  const participants = arms.map(({ assigned }) => assigned);
  return presentResults(row, asOf, { analysis, participants, exposures });
}

export function analyseArms(
  row: ExperimentRow,
  arms: readonly ArmData[],
  asOf: Date,
  monitoring: Monitoring,
): Analysis {
  const plan = {
    ...planOf(row),
    metrics: row.metrics,
    primaryMetric: row.primary_metric,
    controlId: controlOf(row.variants).id,
  };
  return analyse(arms, plan, monitoring, runtimeMs(row, asOf) / dayMs);
}

/** The inference that applies to a running experiment at a moment. */
export function monitoringAt(row: ExperimentRow, now: Date): Monitoring {
  if (row.ends_at === null) return monitoringOf(row, -1);
  const due = lookDueAt(momentsOf(row), now.getTime());
  return due < 0 ? noLook : monitoringOf(row, due);
}

function runtimeMs({ started_at }: ExperimentRow, asOf: Date): number {
  return started_at === null ? 0 : Math.max(0, asOf.getTime() - started_at.getTime());
}

function framing(row: ExperimentRow, asOf: Date) {
  return {
    experimentId: row.experiment_id,
    status: row.status,
    duration: {
      days: Math.floor(runtimeMs(row, asOf) / dayMs),
      startedAt: formatTimestamp(row.started_at),
    },
  };
}

type Found = {
  analysis: Analysis;
  participants: readonly number[];
  exposures: readonly ExposureCount[];
};

function presentResults(row: ExperimentRow, asOf: Date, found: Found) {
  const { arms, recommendation, sampleRatio } = found.analysis;
  const { winnerIndex, ...rest } = recommendation;
  return {
    ...framing(row, asOf),
    asOf: row.started_at === null ? null : formatTimestamp(asOf),
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
    health: {
      srm: { ...sampleRatio, segments: unevenSegments(row.variants, found.exposures) },
      unitsInSeveralVariants: found.exposures.reduce((sum, { crossed }) => sum + crossed, 0),
    },
  };
}

/** What a metric shows; the effect that could be detected is told once, in the recommendation. */
function presentMetric(result: MetricResult): object {
  const { minimumDetectableEffect: _, ...rest } = { minimumDetectableEffect: null, ...result };
  return rest;
}
