/**
 * Viewers of simulated experiments and their behaviour: many sessions, uneven habits, and a past.
 */
import { dayMs } from '../../src/platform/values/time.ts';
import type { LoggedEvent } from '../../src/features/events/events.ts';
import type { Random } from './random.ts';

/** Duration of simulated experiments. */
export const days = 14;
/** Days before the start on which viewers are already active. */
export const daysBefore = 7;

export type SimulatedViewer = {
  readonly userId: string;
  /** The day of the experiment on which the viewer is exposed. */
  readonly firstDay: number;
  /** Probability of coming on any given day. */
  readonly habit: number;
  readonly plays: number;
  readonly patience: number;
};

/** Viewers differ widely, and most of them enter in the first days. */
export function makeViewers(count: number, random: Random): SimulatedViewer[] {
  return Array.from({ length: count }, (_, index) => ({
    userId: `simulated-${index}`,
    firstDay: Math.floor(random() * random() * 10),
    habit: 0.2 + 0.7 * random(),
    plays: 1 + Math.floor(-4 * Math.log(1 - random())),
    patience: random() ** 0.7,
  }));
}

/**
 * A viewer's events in the 24 hours from `dayStartMs`: none, or one session.
 *
 * @param longer factor applied to watch times
 */
export function eventsOf(
  { userId, habit, plays, patience }: SimulatedViewer,
  contentIds: readonly string[],
  dayStartMs: number,
  random: Random,
  longer = 1,
): LoggedEvent[] {
  if (random() > habit) return [];
  const day = Math.floor(dayStartMs / dayMs);
  const events: LoggedEvent[] = [];
  let at = dayStartMs + Math.floor(random() * dayMs * 0.8);
  const count = 1 + Math.floor(random() * plays);
  for (let play = 0; play < count; play += 1) {
    const contentId = contentIds[Math.floor(random() * contentIds.length)] ?? '';
    const base = { contentId, userId, sessionId: `${userId}-${day}` };
    const name = `${userId}-${day}-${play}`;
    const eventId = `${name}-a`;
    events.push({ ...base, eventId, event: 'playStart', at, data: { startupTime: 100 } });
    const watchTime = Math.round(30_000 * patience * random() * longer) / 1_000;
    const isCompleted = random() < patience;
    at += 1_000 + Math.ceil(watchTime * 1_000);
    events.push({
      ...base,
      eventId: `${name}-b`,
      event: isCompleted ? 'completion' : 'watchProgress',
      at,
      data: isCompleted
        ? { watchTime, looped: false }
        : { currentTime: watchTime, duration: 60, watchTime },
    });
  }
  return events;
}
