/** Shared by the recounts of journeys: sessions, and groups by a value of an event. */
import type { LoggedEvent } from '../../src/features/events/events.ts';

const sessionGap = 30 * 60_000;

export type Is = (event: LoggedEvent) => boolean;
/** The value of an event in a breakdown; '' means unknown. */
export type SplitBy = (event: LoggedEvent) => string;

export function sessionsOf(sorted: readonly LoggedEvent[]): LoggedEvent[][] {
  const sessions: LoggedEvent[][] = [];
  for (const event of sorted) {
    const last = sessions.at(-1);
    if (last === undefined || event.at - (last.at(-1)?.at ?? 0) > sessionGap)
      sessions.push([event]);
    else last.push(event);
  }
  return sessions;
}

/** Groups by value, most frequent first. */
export function groupsOf<One>(all: readonly One[], valueOf: (one: One) => string) {
  return [...Map.groupBy(all, valueOf)]
    .toSorted(([a, ones], [b, others]) => others.length - ones.length || compare(a, b))
    .map(([value, of]) => ({ value: value === '' ? null : value, of }));
}

export function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
