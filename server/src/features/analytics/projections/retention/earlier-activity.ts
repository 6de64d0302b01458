import { dayMs } from '../../../../platform/values/time.ts';
import { clockOf } from '../../../../platform/values/zone-clock.ts';
import { OrganizationClocks } from '../../../organizations/organizations.ts';
import { inTransaction, type Db } from '../../../../platform/database/database.ts';
import { setSearchPath } from '../../../../platform/projections/queries.ts';
import { forEachCount, type Activity } from './activity.ts';
import {
  addRetention,
  selectActivityPage,
  upsertActivities,
  type CohortCount,
  type ViewerActivity,
} from './retention-queries.ts';

const viewersAtOnce = 5_000;

type Rebuild = { db: Db; schema: string; firstDayMs: number; signal: AbortSignal };

/**
 * Copies the activity from before the log's first day into the copies of a rebuild, so that viewers
 * stay in the cohort of their first day.
 */
export async function keepEarlierActivity({
  db,
  schema,
  firstDayMs,
  signal,
}: Rebuild): Promise<void> {
  if (firstDayMs === -Infinity) return;
  const clocks = new OrganizationClocks();
  // The log may lack part of the local day in which it begins.
  const firstDayOf = ({ organizationId }: ViewerActivity) =>
    firstDayMs === Infinity
      ? Infinity
      : Math.ceil((clocks.of(organizationId) ?? clockOf('UTC')).localOf(firstDayMs) / dayMs);
  for (let after: Buffer | null = null; ;) {
    signal.throwIfAborted();
    const viewers = await selectActivityPage(db, after, viewersAtOnce);
    const last = viewers.at(-1);
    if (last === undefined) return;
    await clocks.load(db, new Set(viewers.map(({ organizationId }) => organizationId)));
    const earlier = viewers
      .map((viewer) => ({ ...viewer, activity: daysBefore(viewer.activity, firstDayOf(viewer)) }))
      .filter(({ activity }) => activity.length > 0);
    await inTransaction(db, async (tx) => {
      await setSearchPath(tx, schema);
      await upsertActivities(tx, earlier);
      await addRetention(tx, cohortsOf(earlier));
    });
    after = Buffer.from(last.key, 'latin1');
  }
}

function daysBefore(activity: Activity, firstDay: number): Activity {
  return activity.filter((day) => day < firstDay);
}

function cohortsOf(viewers: readonly ViewerActivity[]): CohortCount[] {
  const cohorts = new Map<string, CohortCount>();
  for (const { organizationId, activity } of viewers) {
    forEachCount(activity, (cohortDay, day) => {
      const key = `${organizationId} ${cohortDay} ${day}`;
      const found = cohorts.get(key) ?? { organizationId, cohortDay, day, viewers: 0 };
      cohorts.set(key, { ...found, viewers: found.viewers + 1 });
    });
  }
  return [...cohorts.values()];
}
