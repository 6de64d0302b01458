/** Selects how an experiment is judged at a given time, depending on its plan and its end. */
import { clockOf, type ZoneClock } from '../../platform/values/zone-clock.ts';
import { planOf, type ExperimentRow } from './experiment.ts';
import { lookDueAt, looksOf, type ScheduledLook } from './looks.ts';
import { alwaysValid } from './statistics/always-valid.ts';
import { curveOf } from './statistics/boundary-curves.ts';
import { groupSequential, type Curve } from './statistics/group-sequential.ts';
import { noLook, type Monitoring } from './statistics/monitoring.ts';

/**
 * With scheduled looks there is no verdict before the first one; then all looks up to the last due
 * one count.
 */
export type Inference = 'always-valid' | readonly ScheduledLook[];

/**
 * The clock that splits an experiment into days. It uses the zone at the start, even if the
 * organization has changed its zone since.
 */
export function clockOfPlan(row: ExperimentRow): ZoneClock {
  return clockOf(planOf(row).timeZone ?? 'UTC');
}

function looksOfRow(row: ExperimentRow): ScheduledLook[] {
  if (row.started_at === null || row.ends_at === null) return [];
  const { minimumDays, earlierEnds = [] } = planOf(row);
  return looksOf({
    clock: clockOfPlan(row),
    startMs: row.started_at.getTime(),
    endMs: row.ends_at.getTime(),
    minimumDays,
    earlierEnds: earlierEnds.map(({ endsAt, movedAt }) => ({
      endMs: Date.parse(endsAt),
      movedAtMs: Date.parse(movedAt),
    })),
  });
}

/** Index of the last due look; −1 before the first, and without a planned end. */
export function lookDue(row: ExperimentRow, now: Date): number {
  return lookDueAt(looksOfRow(row), now.getTime());
}

export function inferenceAt(row: ExperimentRow, now: Date): Inference {
  return inferenceOfLook(row, lookDue(row, now));
}

export function inferenceOfLook(row: ExperimentRow, look: number): Inference {
  return row.ends_at === null ? 'always-valid' : looksOfRow(row).slice(0, look + 1);
}

/** Calculates the boundaries for a planned end in a worker thread, because it can take a second. */
export async function monitoringBy(row: ExperimentRow, inference: Inference): Promise<Monitoring> {
  const hasLooks = inference !== 'always-valid' && inference.length > 0;
  return monitoringWith(row, inference, hasLooks ? await curveOf(inference) : null);
}

/** @param curve boundaries of the looks, or null without looks */
export function monitoringWith(
  row: ExperimentRow,
  inference: Inference,
  curve: Curve | null,
): Monitoring {
  if (inference === 'always-valid') {
    const { tunedTo, alpha } = planOf(row);
    return alwaysValid({ tunedTo, alpha });
  }
  return curve === null ? noLook : groupSequential(curve);
}
