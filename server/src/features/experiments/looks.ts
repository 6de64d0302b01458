/**
 * When an experiment with a planned end is looked at: at midnights of the organization's time zone, from
 * its minimum runtime on, and at its end. Between two looks results stay as they were at the last one, so
 * reading them a thousand times is one look. Experiments that last long are looked at every second,
 * third, … day, at most 30 times.
 */
import { dayMs } from '../../platform/time.ts';
import type { ZoneClock } from '../../platform/zone-clock.ts';
import type { PlannedLook } from './statistics/group-sequential.ts';

const maxLooks = 30;

export type Schedule = {
  readonly clock: ZoneClock;
  readonly startMs: number;
  readonly endMs: number;
  readonly minimumDays: number;
  /** The ends that were planned before, each with the moment at which it was moved. In that order. */
  readonly earlierEnds: readonly { readonly endMs: number; readonly movedAtMs: number }[];
};

export type ScheduledLook = PlannedLook & { readonly atMs: number };

/** The whole days between two moments: how many midnights of the time zone lie between them. */
export function wholeDays(clock: ZoneClock, fromMs: number, toMs: number): number {
  return localDay(clock, toMs) - localDay(clock, fromMs);
}

function localDay(clock: ZoneClock, ms: number): number {
  return Math.floor(clock.localOf(ms) / dayMs);
}

/**
 * All looks, the end last. A look that was taken before the end was moved has spent its share of alpha
 * by the end of that time, and none that follows spends until it is due a larger share; it is left out.
 */
export function looksOf(schedule: Schedule): ScheduledLook[] {
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

function momentsUntil({ clock, startMs, minimumDays }: Schedule, endMs: number): number[] {
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

/** The index of the last look that is due at a moment; −1 before the first. */
export function lookDueAt(looks: readonly ScheduledLook[], nowMs: number): number {
  return looks.findLastIndex(({ atMs }) => atMs <= nowMs);
}
