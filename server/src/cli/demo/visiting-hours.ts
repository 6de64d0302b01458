/** When viewers visit, by their local hour. */
import { hourMs } from '../../platform/values/time.ts';
import { pickWeighted, randomFrom, type Random } from './random.ts';
import type { DemoVisit } from './visit.ts';
import type { DemoViewer } from './viewers.ts';

/** Relative traffic of each hour of the day, from midnight: few at night, most in the evening. */
const busyness = [4, 2, 1, 1, 1, 2, 4, 7, 8, 6, 5, 6, 9, 8, 6, 6, 7, 9, 11, 13, 15, 16, 13, 8];
const busynessOfDay = busyness.reduce((sum, hour) => sum + hour, 0);

/** Expected number of visits of a viewer in the hour that contains this time. */
function visitsExpected({ visitsPerDay, utcOffsetHours }: DemoViewer, atMs: number): number {
  const localHour = Math.floor(atMs / hourMs + utcOffsetHours) % 24;
  return (visitsPerDay * (busyness[localHour] ?? 0)) / busynessOfDay;
}

/** The visits of a viewer that begin in [fromMs, toMs). The result never changes. */
export function visitsBetween(viewer: DemoViewer, fromMs: number, toMs: number): DemoVisit[] {
  const visits: DemoVisit[] = [];
  for (let atMs = fromMs - (fromMs % hourMs); atMs < toMs; atMs += hourMs) {
    const random = randomFrom(`${viewer.name} at ${atMs}`);
    const count = Math.floor(visitsExpected(viewer, atMs) + random());
    for (let visit = 0; visit < count; visit += 1) {
      visits.push({ viewer, startMs: atMs + Math.floor(random() * hourMs) });
    }
  }
  return visits
    .filter(({ startMs }) => startMs >= fromMs && startMs < toMs)
    .toSorted((a, b) => a.startMs - b.startMs);
}

/** Picks the next viewer. */
export function whoComes(
  viewers: readonly DemoViewer[],
  nowMs: number,
  random: Random,
): DemoViewer {
  return pickWeighted(
    random,
    viewers.map((viewer) => [viewer, visitsExpected(viewer, nowMs)] as const),
  );
}
