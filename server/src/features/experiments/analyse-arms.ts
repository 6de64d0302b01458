/** The analysis stage of the results: statistics of loaded arms under the applicable monitoring. */
import { controlOf, planOf, type ExperimentRow } from './experiment.ts';
import { clockOfPlan } from './inference.ts';
import { midnightsBetween } from './looks.ts';
import { analyse, type Analysis, type ArmData } from './statistics/analysis.ts';
import type { Monitoring } from './statistics/monitoring.ts';

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
  return analyse(arms, plan, monitoring, daysSinceStart(row, asOf));
}

export function daysSinceStart(row: ExperimentRow, asOf: Date): number {
  const { started_at: startedAt } = row;
  if (startedAt === null) return 0;
  return Math.max(0, midnightsBetween(clockOfPlan(row), startedAt.getTime(), asOf.getTime()));
}
