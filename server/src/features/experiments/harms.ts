/**
 * Watches guardrails every half minute from the first participants on, even before the first look.
 * An always-valid sequence permits this; see statistics/guardrails.ts. A detected harm is permanent
 * and is announced to webhooks once.
 */
import { inTransaction, type Db, type Tx } from '../../platform/database/database.ts';
import { recordEvent } from '../webhooks/webhooks.ts';
import { readArms } from './arms.ts';
import { controlOf, planOf, type ExperimentRow } from './experiment.ts';
import { decreasingOf, readOwnMetrics } from './own-metrics.ts';
import { addHarms, guardedExperiments } from './guardrail-queries.ts';
import { lockExperiment } from './queries.ts';
import { alwaysValid } from './statistics/always-valid.ts';
import { testGuardrails } from './statistics/analysis.ts';
import { findHarms } from './statistics/guardrails.ts';
import { checkSampleRatio } from './statistics/sample-ratio.ts';

export type Harmed = {
  readonly metric: string;
  readonly variant: string;
  readonly at: string;
  readonly lift: number;
  readonly liftInterval: readonly [number, number];
};

/** @returns the number of newly detected harms */
export async function watchGuardrails(db: Db, now: Date): Promise<number> {
  let found = 0;
  for (const row of await guardedExperiments(db)) {
    const harms = await harmsOf(db, row, now);
    if (harms.some((harm) => !isKnown(row, harm))) found += await record(db, row, harms);
  }
  return found;
}

export async function harmsOf(db: Db, row: ExperimentRow, now: Date): Promise<Harmed[]> {
  const { arms } = await readArms(db, row, now);
  // Figures of unevenly filled arms prove nothing.
  if (!checkSampleRatio(arms.map(({ assigned, weight }) => ({ units: assigned, weight }))).ok) {
    return [];
  }
  const { alpha, tunedTo, minimumUnits, minimumOutcomes } = planOf(row);
  const plan = {
    alpha,
    minimumUnits,
    minimumOutcomes,
    guardrails: row.guardrails,
    decreasing: decreasingOf(await readOwnMetrics(db, row)),
    controlId: controlOf(row.variants).id,
  };
  return findHarms(testGuardrails(arms, plan, null), plan, alwaysValid({ tunedTo, alpha })).map(
    ({ metric, armIndex, lift, liftInterval }) => ({
      metric,
      variant: row.variants[armIndex]?.id ?? '',
      at: now.toISOString(),
      lift,
      liftInterval,
    }),
  );
}

function isKnown({ harms }: ExperimentRow, { metric, variant }: Harmed): boolean {
  return harms.some((known) => known.metric === metric && known.variant === variant);
}

async function record(
  db: Db,
  { organization_id: organizationId, experiment_id: experimentId }: ExperimentRow,
  harms: readonly Harmed[],
): Promise<number> {
  return inTransaction(db, async (tx: Tx) => {
    const row = await lockExperiment(tx, organizationId, experimentId);
    if (row === null || row.status !== 'running') return 0;
    const fresh = harms.filter((harm) => !isKnown(row, harm));
    if (fresh.length === 0) return 0;
    await addHarms(tx, row, fresh);
    for (const { metric, variant, at, lift, liftInterval } of fresh) {
      await recordEvent(tx, organizationId, 'experiment.guardrail_harmed', {
        experimentId,
        name: row.name,
        metric,
        variant,
        margin: row.guardrails.find((guardrail) => guardrail.metric === metric)?.margin ?? 0,
        lift,
        liftInterval: [...liftInterval],
        harmedAt: at,
      });
    }
    return fresh.length;
  });
}
