/**
 * The results of an experiment. `readResults`, `takeLook` and `freezeResults` choose between stored
 * results and a computation, which has four stages: load, monitor, analyse, present.
 */
import { inTransaction, type Db, type Tx } from '../../platform/database/database.ts';
import { analyseArms } from './analyse-arms.ts';
import { readArms, type Arms } from './arms.ts';
import type { ExperimentRow } from './experiment.ts';
import { inferenceAt, inferenceOfLook, lookDue, monitoringBy } from './inference.ts';
import { lockExperiment, saveLook } from './queries.ts';
import { decreasingOf, readOwnMetrics } from './own-metrics.ts';
import { presentFraming, presentResults, type Results } from './present-results.ts';
import { noLook, type Monitoring } from './statistics/monitoring.ts';

/** The stored state of a running experiment: its last look and the results of that look. */
export type StoredLook = { readonly look: number; readonly results: Results };

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
  const kept = storedLook(row);
  if (due < 0) {
    const isFresh = ageOf(kept, now) < keptMs;
    return kept !== null && isFresh ? kept.results : computeBetweenLooks(db, row, now);
  }
  return resultsOfLook(row, due) ?? takeLook(db, row, now);
}

/** The stored look of a running experiment, or null. Its `look` is −1 between looks. */
export function storedLook(row: ExperimentRow): StoredLook | null {
  return row.results as StoredLook | null;
}

/** The stored results, if they are of the look that is due or of a later one. */
function resultsOfLook(row: ExperimentRow, due: number): Results | null {
  const stored = storedLook(row);
  return stored !== null && stored.look >= due ? stored.results : null;
}

/** The age of the stored results; Infinity if there are none. */
export function ageOf(kept: StoredLook | null, now: Date): number {
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
    const stored = resultsOfLook(row, due);
    if (stored !== null) return stored;
    const monitoring = await monitoringBy(row, inferenceOfLook(row, due));
    const results = await computeResults(tx, row, now, monitoring);
    await saveLook(tx, row, { look: due, results } satisfies StoredLook);
    return results;
  });
}

export function isLookDue(row: ExperimentRow, now: Date): boolean {
  return lookDue(row, now) > (storedLook(row)?.look ?? -1);
}

/**
 * The final results of an experiment. The planned end is its last look. An earlier end falls
 * between two looks, so the results of the last look are kept.
 */
export async function freezeResults(tx: Tx, row: ExperimentRow, endedAt: Date): Promise<Results> {
  const due = lookDue(row, endedAt);
  const stored = due < 0 ? null : resultsOfLook(row, due);
  if (stored !== null) {
    const { experimentId, status, duration } = presentFraming(row, endedAt);
    return { ...stored, experimentId, status, duration };
  }
  const monitoring = await monitoringBy(row, inferenceAt(row, endedAt));
  return computeResults(tx, row, endedAt, monitoring);
}

/** The data of an experiment at one time. */
type Loaded = Arms & {
  /** Custom metrics for which lower is better. */
  readonly decreasing: ReadonlySet<string>;
};

async function load(db: Db, row: ExperimentRow, asOf: Date): Promise<Loaded> {
  const { arms, exposures } = await readArms(db, row, asOf);
  return { arms, exposures, decreasing: decreasingOf(await readOwnMetrics(db, row)) };
}

async function computeResults(
  db: Db,
  row: ExperimentRow,
  asOf: Date,
  monitoring: Monitoring,
): Promise<Results> {
  const { arms, exposures, decreasing } = await load(db, row, asOf);
  const analysis = analyseArms(row, arms, asOf, monitoring, decreasing);
  const participants = arms.map(({ assigned }) => assigned);
  return presentResults(row, asOf, { analysis, participants, exposures, monitoring });
}
