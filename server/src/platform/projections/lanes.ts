/**
 * The progress of several projections along one log. Lanes at the same position share reads. A lane
 * that failed or was rebuilt reads alone until it has caught up: it reads exactly up to the
 * position that the others have reached, and then continues with them.
 */
import type { EventLog, LogEntry, LogPosition } from '../event-log/event-log.ts';
import type { Pace } from './pace.ts';
import type { ProjectionRun } from './run.ts';

export type Lane<Event> = { readonly run: ProjectionRun<Event>; readonly pace: Pace };

type Compare = EventLog<LogEntry>['compare'];

/** Groups lanes by position, those furthest behind first. */
export function groupLanes<Event>(
  lanes: readonly Lane<Event>[],
  compare: Compare,
): Lane<Event>[][] {
  const groups: { position: LogPosition; lanes: Lane<Event>[] }[] = [];
  for (const lane of lanes) {
    if (!lane.run.isReady) continue;
    const { position } = lane.run;
    const found = groups.find((group) => compare(group.position, position) === 'same');
    if (found === undefined) groups.push({ position, lanes: [lane] });
    else found.lanes.push(lane);
  }
  return groups
    .toSorted((a, b) => orderOf(compare(a.position, b.position)))
    .map((group) => group.lanes);
}

function orderOf(order: ReturnType<Compare>): number {
  if (order === 'before') return -1;
  return order === 'after' ? 1 : 0;
}

/** Whether a group has reached the position of other lanes. */
export function hasJoined<Event>(
  group: readonly Lane<Event>[],
  lanes: readonly Lane<Event>[],
  compare: Compare,
): boolean {
  return lanes.some(
    (lane) =>
      lane.run.isReady &&
      !group.includes(lane) &&
      group.some(({ run }) => compare(run.position, lane.run.position) === 'same'),
  );
}

/** Determines how far to read: a lane that is behind reads exactly up to the most advanced ones. */
export function aimOf<Event>(
  { run: { position } }: Lane<Event>,
  lanes: readonly Lane<Event>[],
  compare: Compare,
): LogPosition | null {
  let farthest = position;
  for (const { run } of lanes) {
    if (run.isReady && compare(farthest, run.position) === 'before') farthest = run.position;
  }
  return farthest === position ? null : farthest;
}
