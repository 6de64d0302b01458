/**
 * What a view or a session counts for in an experiment: a pure function of its state and of the
 * moment of the unit's first exposure. So the numbers of a unit are a function of the sets of its
 * events and exposures, whatever order they are told in.
 *
 * A view belongs to the experiment when it began at the exposure or later, a session when it lasted
 * until then. They belong to the history that the unit is compared with when they began on one of the
 * seven UTC days before the day of the exposure.
 */
import { watchOf, type SessionState, type ViewState } from '../../analytics/analytics.ts';
import { dayMs } from '../../../platform/time.ts';

export const historyDays = 7;

/** What is counted of one unit. */
export type UnitCounts = {
  plays: number;
  completions: number;
  watchMs: number;
  sessions: number;
  /** Sessions that reach into the second day of the exposure; only whether there is one matters. */
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

/** Adds what was counted of another viewer who is the same person. */
export function addCounts(counts: UnitCounts, others: UnitCounts): void {
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
  // The session in which the exposure happens belongs to the experiment.
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
