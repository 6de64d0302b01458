/**
 * The ways of several projections along one log. Those that are at one position share the reading. One
 * that has failed, or was rebuilt, goes its own way until it has caught up: it reads to the very
 * snapshot that the others have reached, and goes on with them.
 */
import type { LogPosition } from '../../events/events.ts';
import type { Pace } from './pace.ts';
import type { ProjectionRun } from './run.ts';

export type Lane = { readonly run: ProjectionRun; readonly pace: Pace };

/** Projections at one position, those that are behind first. */
export function groupLanes(lanes: readonly Lane[]): Lane[][] {
  const groups = Map.groupBy(
    lanes.filter(({ run }) => run.isReady),
    ({ run }) => keyOf(run.position),
  );
  return [...groups.values()].toSorted((a, b) => placeOf(a) - placeOf(b));
}

/** Whether a group has come to a position at which others are. */
export function hasJoined(group: readonly Lane[], lanes: readonly Lane[]): boolean {
  const keys = new Set(group.map(({ run }) => keyOf(run.position)));
  return lanes.some(
    (lane) => lane.run.isReady && !group.includes(lane) && keys.has(keyOf(lane.run.position)),
  );
}

/** Where to read from: who is behind others reads exactly as far as those who are farthest. */
export function aimOf({ run: { position } }: Lane, lanes: readonly Lane[]): LogPosition {
  if (position.target !== null) return position;
  const ahead = lanes
    .filter(({ run }) => run.isReady && run.position.target === null)
    .map(({ run }) => run.position.base)
    .reduce((farthest, base) => (isBehind(farthest, base) ? base : farthest), position.base);
  return ahead === position.base ? position : { ...position, target: ahead };
}

/** The same for the same place in the log, whatever else the position remembers. */
function keyOf({ base, target, after }: LogPosition): string {
  return `${base} ${target} ${after?.writtenBy} ${after?.sequence}`;
}

/** Orders positions by the transactions that their snapshots know of. */
function placeOf(group: readonly Lane[]): number {
  const [lane] = group;
  return lane === undefined ? 0 : parseSnapshot(lane.run.position.base).end;
}

/**
 * Whether a snapshot, in its text form, sees less than another one of the same server, which sees all
 * that it sees. Reading to a snapshot that does not see all of one's own would be going back.
 */
export function isBehind(snapshot: string, other: string): boolean {
  if (snapshot === other) return false;
  const [one, later] = [parseSnapshot(snapshot), parseSnapshot(other)];
  if (later.end < one.end) return false;
  for (const transaction of later.open) {
    if (transaction < one.end && !one.open.has(transaction)) return false;
  }
  return later.end > one.end || later.open.size < one.open.size;
}

/** `end`: it sees no transaction from this one on; `open`: nor these. */
function parseSnapshot(snapshot: string): { end: number; open: ReadonlySet<number> } {
  const [, end = '0', open = ''] = snapshot.split(':');
  return { end: Number(end), open: new Set(open === '' ? [] : open.split(',').map(Number)) };
}
