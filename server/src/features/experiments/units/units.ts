/**
 * The activity of exposed units, in tables that follow the projection `engagement`.
 *
 * An exposure and the events of its unit arrive in any order: an event may be projected before the
 * exposure is stored. A pass therefore starts with exposures that have no unit yet and counts what
 * is stored about their viewers; then it adds the changes of the pass to every unit.
 */
import type { Db, Tx } from '../../../platform/database/database.ts';
import {
  erasedKeys,
  loadStatesOf,
  type EngagementChanges,
  type EngagementFollower,
  type Hash,
} from '../../analytics/analytics.ts';
import { deleteExposuresOf } from '../assignments/exposure-queries.ts';
import { addUnitCounts, addSession, addView, emptyCounts, historyDays } from './contribution.ts';
import {
  addToUnits,
  deleteUnit,
  insertUnits,
  markCounted,
  moveToUsers,
  runningNumbers,
  selectMembers,
  selectUncounted,
  type CountedUnit,
  type Unit,
} from './queries.ts';
import { copyExposures, keepOldUnits } from './rebuild-queries.ts';
import { addViewerDays, deleteOldDays, selectHistory } from './viewer-day-queries.ts';
import { unitDaysOf } from './viewer-days.ts';

/** Covers the history of an experiment that starts now, and the baseline of a plan. */
const daysKept = 35;
const maxUncounted = 5_000;

export const experimentUnits: EngagementFollower = {
  tables: ['experiment_unit', 'viewer_day'],
  async write(tx, changes, { partitions, generation }) {
    const numbers = await runningNumbers(tx, partitions);
    if (numbers.length > 0) {
      await addExposedUnits(tx, numbers, generation);
      await addChanges(tx, numbers, changes);
    }
    await addViewerDays(tx, unitDaysOf(changes));
  },
  async eraseViewer(tx, viewer) {
    let removed = 0;
    for (const key of await erasedKeys(tx, viewer)) {
      removed += await deleteExposuresOf(tx, viewer.organizationId, key);
      removed += await deleteUnit(tx, key);
    }
    return removed;
  },
  expire: [(tx, limit) => deleteOldDays(tx, daysKept, limit)],
  carryOver: ({ db, schema }: { db: Db; schema: string }) => copyExposures(db, schema),
  keepOld: keepOldUnits,
};

/**
 * Creates units for exposures that have none, from what is stored about their viewers. No other
 * writer may run for the projection `engagement` at the same time.
 *
 * @returns the number of units created; there may be more left
 */
export async function addExposedUnits(
  tx: Tx,
  numbers: readonly number[],
  generation: number,
): Promise<number> {
  const exposures = await selectUncounted(tx, numbers, maxUncounted);
  if (exposures.length === 0) return 0;
  const devices = exposures.filter(({ mergedInto }) => mergedInto !== null);
  const byUnit = Map.groupBy(exposures, ({ unit }) => unit);
  const units = new Map(
    exposures.map((exposure) => [keyOf(exposure), { ...exposure, counts: emptyCounts() }]),
  );
  const unitsOf = (viewer: Hash) =>
    (byUnit.get(viewer) ?? []).flatMap((exposure) => units.get(keyOf(exposure)) ?? []);
  const { views, sessions } = await loadStatesOf(tx, [...byUnit.keys()], generation);
  for (const { viewer, state } of views) {
    for (const { counts, exposedAtMs } of unitsOf(viewer)) {
      if (state.firstAt >= exposedAtMs) addView(counts, state, exposedAtMs, 1);
    }
  }
  for (const { viewer, state } of sessions) {
    for (const { counts, exposedAtMs } of unitsOf(viewer)) {
      if (state.lastAt >= exposedAtMs) addSession(counts, state, exposedAtMs, 1);
    }
  }
  // States expire after a few days; anything older than the exposure is known per day.
  for (const history of await selectHistory(tx, exposures, historyDays)) {
    const unit = units.get(keyOf(history));
    if (unit === undefined) continue;
    unit.counts.earlierWatchMs = history.watchMs;
    unit.counts.earlierSessions = history.sessions;
  }
  await insertUnits(tx, [...units.values()]);
  await moveToUsers(tx, devices);
  await markCounted(tx, exposures);
  return exposures.length;
}

function keyOf({ experimentNumber, unit }: Pick<Unit, 'experimentNumber' | 'unit'>): string {
  return `${experimentNumber} ${unit}`;
}

async function addChanges(
  tx: Tx,
  numbers: readonly number[],
  { views, sessions }: EngagementChanges,
): Promise<void> {
  const viewers = new Set([...views, ...sessions].map(({ viewer }) => viewer));
  const members = await selectMembers(tx, numbers, [...viewers]);
  if (members.length === 0) return;
  const byViewer = Map.groupBy(
    members.map((member) => ({ ...member, counts: emptyCounts() })),
    ({ viewer }) => viewer,
  );
  for (const { viewer, before, after } of views) {
    for (const { counts, exposedAtMs } of byViewer.get(viewer) ?? []) {
      for (const view of before) addView(counts, view, exposedAtMs, -1);
      for (const view of after) addView(counts, view, exposedAtMs, 1);
    }
  }
  for (const { viewer, before, after } of sessions) {
    for (const { counts, exposedAtMs } of byViewer.get(viewer) ?? []) {
      for (const session of before) addSession(counts, session, exposedAtMs, -1);
      for (const session of after) addSession(counts, session, exposedAtMs, 1);
    }
  }
  const units = new Map<string, CountedUnit>();
  for (const member of [...byViewer.values()].flat()) {
    if (!member.tellsReturns) member.counts.returns = 0;
    const unit = units.get(keyOf(member));
    if (unit === undefined) units.set(keyOf(member), member);
    else addUnitCounts(unit.counts, member.counts);
  }
  await addToUnits(
    tx,
    [...units.values()].filter(({ counts }) => hasCounts(counts)),
  );
}

function hasCounts(counts: object): boolean {
  return Object.values(counts).some((count) => count !== 0);
}
