/**
 * Watches guardrails every half minute from the first participants on, even before the first look.
 * An always-valid sequence permits this; see statistics/guardrails.ts. A detected harm is permanent
 * and is announced to webhooks once.
 */
import { inTransaction, type Db, type Tx } from '../../platform/database/database.ts';
import { recordEvent } from '../webhooks/webhooks.ts';
import { readArms } from './arms.ts';
import type { ExperimentRow } from './experiment.ts';
import { decreasingOf, readOwnMetrics } from './own-metrics.ts';
import { addHarms, guardedExperiments } from './guardrail-queries.ts';
import { freshHarms, harmsOf, type Harmed } from './harms.ts';
import { lockExperiment } from './queries.ts';

/** @returns the number of newly detected harms */
export async function watchGuardrails(db: Db, now: Date): Promise<number> {
  let found = 0;
  for (const row of await guardedExperiments(db)) {
    const { arms } = await readArms(db, row, now);
    const harms = harmsOf(row, arms, decreasingOf(await readOwnMetrics(db, row)), now);
    if (freshHarms(row, harms).length > 0) found += await record(db, row, harms);
  }
  return found;
}

async function record(
  db: Db,
  { organization_id: organizationId, experiment_id: experimentId }: ExperimentRow,
  harms: readonly Harmed[],
): Promise<number> {
  return inTransaction(db, async (tx: Tx) => {
    const row = await lockExperiment(tx, organizationId, experimentId);
    if (row === null || row.status !== 'running') return 0;
    const fresh = freshHarms(row, harms);
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
