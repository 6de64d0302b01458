/**
 * The activity that a pass adds to the days of viewers. Views and sessions count on the day they
 * start.
 */
import {
  watchOf,
  type EngagementChanges,
  type Hash,
  type SessionState,
  type ViewState,
} from '../../analytics/analytics.ts';
import { dayMs as msOfDay } from '../../../platform/values/time.ts';
import type { UnitDay } from './viewer-day-queries.ts';

export function unitDaysOf({ views, sessions }: EngagementChanges): UnitDay[] {
  const days = new Map<string, UnitDay>();
  const dayFor = (organizationId: string, viewer: Hash, atMs: number) => {
    const dayMs = Math.floor(atMs / msOfDay) * msOfDay;
    const key = `${viewer} ${dayMs}`;
    let day = days.get(key);
    if (day === undefined) {
      const counts = { plays: 0, completions: 0, watchMs: 0, sessions: 0 };
      day = { viewer, dayMs, organizationId, ...counts };
      days.set(key, day);
    }
    return day;
  };
  const addView = (organizationId: string, viewer: Hash, view: ViewState, times: 1 | -1) => {
    const { plays, completedPlays, watchMs } = watchOf(view);
    if (plays === 0 && watchMs === 0) return;
    const day = dayFor(organizationId, viewer, view.firstAt);
    day.plays += plays * times;
    day.completions += completedPlays * times;
    day.watchMs += watchMs * times;
  };
  const addSession = (organizationId: string, viewer: Hash, of: SessionState, times: 1 | -1) => {
    dayFor(organizationId, viewer, of.firstAt).sessions += times;
  };
  for (const { organizationId, viewer, before, after } of views) {
    for (const view of before) addView(organizationId, viewer, view, -1);
    for (const view of after) addView(organizationId, viewer, view, 1);
  }
  for (const { organizationId, viewer, before, after } of sessions) {
    for (const session of before) addSession(organizationId, viewer, session, -1);
    for (const session of after) addSession(organizationId, viewer, session, 1);
  }
  return [...days.values()].filter(
    ({ plays, completions, watchMs, sessions: count }) =>
      plays !== 0 || completions !== 0 || watchMs !== 0 || count !== 0,
  );
}
