import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { LogPosition } from '../event-log/event-log.ts';
import { comparePositions, parsePosition, startOfLog } from '../event-log/postgres/position.ts';
import { aimOf, groupLanes, hasJoined, type Lane } from './lanes.ts';
import { Pace } from './pace.ts';
import { everyPartition } from './partitions.ts';
import type { Projection } from './projection.ts';
import { ProjectionRun } from './run.ts';

const projection: Projection<unknown> = {
  name: 'idle',
  tables: [],
  createWriter: () => ({ collect: () => undefined, write: async () => undefined, forget() {} }),
  maxDuty: 1,
  eraseViewer: 'no viewer data',
  purgeItems: 'no items',
  expire: [],
  rebuild: { from: 'log' },
};

function laneAt(position: LogPosition): Lane<unknown> {
  const run = new ProjectionRun(projection, startOfLog);
  run.resume(
    everyPartition.map((partition) => ({ name: 'idle', partition, position, revision: 1 })),
  );
  return { run, pace: new Pace(1) };
}

const compare = (one: LogPosition, other: LogPosition) =>
  comparePositions(parsePosition(one), parsePosition(other));
const between = (base: string, receivedFromMs = 0) => ({ ...startOfLog, base, receivedFromMs });

describe('projections on one log', () => {
  test('read together at one position, and those behind first', () => {
    const lanes = [laneAt(between('9:9:')), laneAt(between('3:3:')), laneAt(between('9:9:', 7))];
    assert.deepEqual(
      groupLanes(lanes, compare).map((group) => group.map(({ run }) => run.position['base'])),
      [['3:3:'], ['9:9:', '9:9:']],
    );
  });

  test('never go back: the farthest continues, the others come to the same position', () => {
    // The lane that is behind was read later, so comparing times would not help.
    const behind = laneAt(between('3:3:', 2_000));
    const ahead = laneAt(between('9:9:', 1_000));
    const lanes = [behind, ahead];
    assert.equal(aimOf(ahead, lanes, compare), null);
    assert.equal(aimOf(behind, lanes, compare)?.['base'], '9:9:');
    behind.run.collect([], between('9:9:', 3_000));
    assert.ok(hasJoined([behind], lanes, compare));
    assert.equal(groupLanes(lanes, compare).length, 1);
  });
});
