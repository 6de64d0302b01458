import type { Db } from '../../platform/database/database.ts';
import { readOrganizationClock } from '../organizations/organizations.ts';
import { planOf, type ExperimentRow, type JudgingPlan } from './experiment.ts';
import { clockOfPlan } from './inference.ts';
import { midnightsBetween } from './looks.ts';

export type Warning = {
  readonly code: 'ENDS_TOO_EARLY' | 'NO_PLANNED_END';
  readonly message: string;
};

const noPlannedEnd: Warning = {
  code: 'NO_PLANNED_END',
  message:
    'Without endsAt, results are valid whenever you read them, but the same effect needs about twice as many ' +
    'participants or more. POST /v1/experiments/plan suggests an end.',
};

/**
 * @param now when a draft would start
 * @param current the plan that a draft would start with
 */
export async function warningsOf(
  db: Db,
  row: ExperimentRow,
  now: Date,
  current: JudgingPlan,
): Promise<Warning[]> {
  const { started_at: startedAt, ends_at: endsAt, status } = row;
  const isDraft = status === 'draft';
  if (!(isDraft || status === 'running')) return [];
  if (endsAt === null) return [noPlannedEnd];
  const { minimumDays } = isDraft ? current : planOf(row);
  const clock = isDraft ? await readOrganizationClock(db, row.organization_id) : clockOfPlan(row);
  const days = Math.max(0, midnightsBetween(clock, (startedAt ?? now).getTime(), endsAt.getTime()));
  if (days >= minimumDays) return [];
  const message =
    `The experiment ends after ${days} whole ${days === 1 ? 'day' : 'days'} (${clock.timeZone}), but results are ` +
    `evaluated after ${minimumDays}. Move endsAt later, or no winner will be recommended.`;
  return [{ code: 'ENDS_TOO_EARLY', message }];
}
