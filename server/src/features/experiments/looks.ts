/**
 * The schedule of looks at an experiment with a planned end: at midnight in the organization's time
 * zone, from the minimum runtime on, and at the end. Results do not change between looks, so
 * reading them a thousand times still counts as one look. Long experiments are looked at every
 * second, third, … day, at most 30 times in all.
 */
import { dayMs } from '../../platform/values/time.ts';
import type { ZoneClock } from '../../platform/values/zone-clock.ts';
import type { PlannedLook } from './statistics/group-sequential.ts';

const maxLooks = 30;

export type LookSchedule = {
  readonly clock: ZoneClock;
  readonly startMs: number;
  readonly endMs: number;
  readonly minimumDays: number;
  /** Earlier planned ends in chronological order, each with the time at which it was moved. */
  readonly earlierEnds: readonly { readonly endMs: number; readonly movedAtMs: number }[];
};

export type ScheduledLook = PlannedLook & { readonly atMs: number };

/** Whole days between two times: the number of midnights of the time zone between them. */
export function midnightsBetween(clock: ZoneClock, fromMs: number, toMs: number): number {
  return localDay(clock, toMs) - localDay(clock, fromMs);
}

function localDay(clock: ZoneClock, ms: number): number {
  return Math.floor(clock.localOf(ms) / dayMs);
}

/**
 * All looks, the end last. Looks taken before the end was moved have already spent their share of
 * alpha. A later look is left out unless its cumulative share exceeds what has been spent.
 */
export function looksOf(schedule: LookSchedule): ScheduledLook[] {
  const { startMs, endMs, earlierEnds } = schedule;
  const looks: ScheduledLook[] = [];
  let [fromMs, spentTime] = [-Infinity, 0];
  for (const planned of [...earlierEnds, { endMs, movedAtMs: Infinity }]) {
    for (const atMs of momentsUntil(schedule, planned.endMs)) {
      const reached = (atMs - startMs) / (planned.endMs - startMs);
      if (atMs <= fromMs || atMs > planned.movedAtMs || reached <= spentTime) continue;
      spentTime = reached;
      looks.push({ atMs, time: (atMs - startMs) / (endMs - startMs), spentTime });
    }
    fromMs = planned.movedAtMs;
  }
  return looks;
}

function momentsUntil({ clock, startMs, minimumDays }: LookSchedule, endMs: number): number[] {
  const startDay = localDay(clock, startMs);
  const moments: number[] = [];
  for (let day = startDay + Math.max(1, minimumDays); ; day += 1) {
    const midnight = clock.momentOf(day * dayMs);
    if (midnight >= endMs) break;
    moments.push(midnight);
  }
  const every = Math.ceil((moments.length + 1) / maxLooks);
  return [...moments.filter((_, index) => (index + 1) % every === 0), endMs];
}

/** Index of the last look due at a given time; −1 before the first. */
export function lookDueAt(looks: readonly ScheduledLook[], nowMs: number): number {
  return looks.findLastIndex(({ atMs }) => atMs <= nowMs);
}
