import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startOfLog, type LogPosition } from '../../events/events.ts';
import { allProjections } from './all-projections.ts';
import { aimOf, groupLanes, hasJoined, isBehind, type Lane } from './lanes.ts';
import { Pace } from './pace.ts';
import { ProjectionRun } from './run.ts';

function laneAt(position: LogPosition): Lane {
  const [projection] = allProjections;
  if (projection === undefined) throw new Error('there are projections');
  const run = new ProjectionRun(projection);
  run.resume({ position, revision: 1 });
  return { run, pace: new Pace(1) };
}

const between = (base: string, receivedFromMs = 0): LogPosition => ({
  ...startOfLog,
  base,
  receivedFromMs,
});

test('a snapshot is behind one that sees all of it and more', () => {
  const cases: [string, string, boolean][] = [
    ['1:1:', '5:9:', true],
    ['5:9:', '1:1:', false],
    ['5:9:', '5:9:', false],
    ['5:9:5,7', '7:9:7', true],
    ['7:9:7', '5:9:5,7', false],
    ['5:9:5', '5:12:5,10', true],
    // The other has not seen 6, which this one has: it is not farther on.
    ['9:9:', '6:12:6', false],
    ['6:12:6', '9:9:', false],
  ];
  for (const [one, other, expected] of cases) {
    assert.equal(isBehind(one, other), expected, `${one} behind ${other}`);
  }
});

describe('projections on one log', () => {
  test('read together at one place, and those behind first', () => {
    const lanes = [laneAt(between('9:9:')), laneAt(between('3:3:')), laneAt(between('9:9:', 7))];
    assert.deepEqual(
      groupLanes(lanes).map((group) => group.map(({ run }) => run.position.base)),
      [['3:3:'], ['9:9:', '9:9:']],
    );
  });

  test('never go back: whoever is farthest goes on, the others come to the same place', () => {
    // The one that is behind has come there later, so it is no use to compare their times.
    const behind = laneAt(between('3:3:', 2_000));
    const ahead = laneAt(between('9:9:', 1_000));
    const lanes = [behind, ahead];
    assert.deepEqual(aimOf(ahead, lanes), ahead.run.position);
    assert.equal(aimOf(behind, lanes).target, '9:9:');
    behind.run.collect([], between('9:9:', 3_000));
    assert.ok(hasJoined([behind], lanes));
    assert.equal(groupLanes(lanes).length, 1);
  });

  test('finish the step that they are in', () => {
    const position = { ...between('3:3:'), target: '5:5:', after: { writtenBy: '4', sequence: 1 } };
    const inStep = laneAt(position);
    assert.deepEqual(aimOf(inStep, [inStep, laneAt(between('9:9:'))]), position);
  });
});
