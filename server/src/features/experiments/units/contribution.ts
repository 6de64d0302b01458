/**
 * What a view or a session contributes to an experiment: a pure function of its state and of the
 * unit's first exposure. The figures of a unit therefore depend only on the sets of its events and
 * exposures, not on their order.
 *
 * A view belongs to the experiment if it began at or after the exposure, a session if it lasted
 * until then. They belong to the unit's history if they began on one of the seven UTC days before
 * the day of the exposure.
 */
import { watchOf, type SessionState, type ViewState } from '../../analytics/analytics.ts';
import { dayMs } from '../../../platform/values/time.ts';

export const historyDays = 7;

export type UnitCounts = {
  plays: number;
  completions: number;
  watchMs: number;
  sessions: number;
  /** Sessions that extend into the second day after exposure. Only whether it is zero matters. */
  returns: number;
  earlierWatchMs: number;
  earlierSessions: number;
};

export function emptyCounts(): UnitCounts {
  return {
    plays: 0,
    completions: 0,
    watchMs: 0,
    sessions: 0,
    returns: 0,
    earlierWatchMs: 0,
    earlierSessions: 0,
  };
}

/** Adds the counts of another viewer who is the same person. */
export function addUnitCounts(counts: UnitCounts, others: UnitCounts): void {
  for (const name of Object.keys(counts) as (keyof UnitCounts)[]) counts[name] += others[name];
}

export function addView(
  counts: UnitCounts,
  view: ViewState,
  exposedAtMs: number,
  times: 1 | -1,
): void {
  const { plays, completedPlays, watchMs } = watchOf(view);
  if (view.firstAt >= exposedAtMs) {
    counts.plays += plays * times;
    counts.completions += completedPlays * times;
    counts.watchMs += watchMs * times;
  } else if (isEarlier(view.firstAt, exposedAtMs)) {
    counts.earlierWatchMs += watchMs * times;
  }
}

export function addSession(
  counts: UnitCounts,
  session: SessionState,
  exposedAtMs: number,
  times: 1 | -1,
): void {
  const { firstAt, lastAt } = session;
  // The session during which the exposure happens belongs to the experiment.
  if (lastAt >= exposedAtMs) counts.sessions += times;
  else if (isEarlier(firstAt, exposedAtMs)) counts.earlierSessions += times;
  const isReturn = lastAt >= exposedAtMs + dayMs && firstAt < exposedAtMs + 2 * dayMs;
  if (isReturn) counts.returns += times;
}

function isEarlier(atMs: number, exposedAtMs: number): boolean {
  const exposureDay = Math.floor(exposedAtMs / dayMs);
  const day = Math.floor(atMs / dayMs);
  return day < exposureDay && day >= exposureDay - historyDays;
}
