/** Tests which viewers are in experiments that run in parallel or one after another. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assignVariant } from '@reelfeed/client/assignment';
import { assignmentPlanOf } from './assignments/view.ts';
import type { ExperimentRow } from './experiment.ts';
import { grownRanges, placeInLayer } from './placement.ts';
import { simulatedRow } from '../../../test/simulation/simulated-row.ts';

const viewers = 40_000;
let made = 0;

function draft(change: Partial<ExperimentRow>): ExperimentRow {
  made += 1;
  const row = simulatedRow(made, 0, { viewers: 0, seed: 0, split: 0.5 });
  return { ...row, status: 'draft', ranges: null, ...change };
}

function start(row: ExperimentRow, running: readonly ExperimentRow[]): ExperimentRow {
  return { ...row, status: 'running', ...placeInLayer(row, running) };
}

function membersOf(row: ExperimentRow): boolean[] {
  const plan = assignmentPlanOf(row);
  return Array.from(
    { length: viewers },
    (_, viewer) => assignVariant(plan, `viewer-${viewer}`, {}) !== null,
  );
}

function shareOf(some: readonly boolean[], others = some): number {
  return some.filter((isIn, index) => isIn && others[index] === true).length / viewers;
}

test('five successive experiments of 10 % share 1 % of the viewers with each other, by chance', () => {
  for (const kind of [{ type: 'ranking' }, { exclusion_group: 'one' }, {}] as const) {
    const rounds = Array.from({ length: 5 }, () =>
      membersOf(start(draft({ ...kind, traffic: 0.1 }), [])),
    );
    for (const [index, some] of rounds.entries()) {
      assert.ok(Math.abs(shareOf(some) - 0.1) < 0.01);
      for (const others of rounds.slice(index + 1)) {
        // Four standard errors.
        assert.ok(Math.abs(shareOf(some, others) - 0.01) < 0.002, `${shareOf(some, others)}`);
      }
    }
  }
});

test('raising the traffic takes free ranges, keeps the members, and overlaps with no other experiment of the group', () => {
  const group = { exclusion_group: 'one' };
  const first = start(draft({ ...group, traffic: 0.3 }), []);
  const second = start(draft({ ...group, traffic: 0.3 }), [first]);
  const raised = { ...first, traffic: 0.7, ranges: grownRanges(first, 0.7, [first, second]) };
  const [before, after, other] = [first, raised, second].map(membersOf);
  assert.ok(before !== undefined && after !== undefined && other !== undefined);
  assert.equal(shareOf(before, after), shareOf(before));
  assert.ok(Math.abs(shareOf(after) - 0.7) < 0.01);
  assert.equal(shareOf(after, other), 0);
  assert.throws(() => grownRanges(raised, 0.8, [raised, second]), /leave 0 /);
});

test('a holdout is the same for all experiments, and independent of other participation', () => {
  const rows = [0.5, 0.5].map((traffic) => start(draft({ traffic, holdout: 0.2 }), []));
  const [some, others] = rows.map((row) => membersOf(row));
  const everybody = membersOf(start(draft({ traffic: 1, holdout: 0.2 }), []));
  assert.ok(some !== undefined && others !== undefined);
  assert.ok(Math.abs(shareOf(everybody) - 0.8) < 0.01);
  assert.equal(shareOf(some, everybody), shareOf(some));
  assert.ok(Math.abs(shareOf(some, others) - 0.8 * 0.25) < 0.01);
});

test('a setting is overridden by only one running experiment, separately for flags and settings', () => {
  const over = (type: 'config' | 'feature', key: string) =>
    draft({
      type,
      traffic: 0.5,
      variants: [{ id: 'a', name: 'a', weight: 1, config: { [key]: true } }] as never,
    });
  const running = start(over('config', 'x'), []);
  assert.throws(() => start(over('config', 'x'), [running]), /already overrides the setting "x"/);
  const flag = start(over('feature', 'x'), [running]);
  assert.throws(
    () => start(over('feature', 'x'), [running, flag]),
    /already overrides the flag "x"/,
  );
  assert.ok(start(over('config', 'y'), [running, flag]).ranges);
});

test('the first experiment of a group names the layer, and others join it', () => {
  const group = { exclusion_group: 'one', traffic: 0.2 };
  const first = start(draft(group), []);
  assert.equal(first.layer, first.experiment_id);
  const alone = start(draft({ traffic: 0.3 }), [first]);
  assert.deepEqual([alone.layer, alone.ranges], [null, [[0, 0.3]]]);
  const other = start(draft({ exclusion_group: 'two', traffic: 0.2 }), [first, alone]);
  assert.equal(other.layer, other.experiment_id);
  assert.equal(start(draft(group), [alone, first, other]).layer, first.layer);
  const ranking = start(draft({ type: 'ranking', traffic: 0.2 }), [alone, first, other]);
  assert.equal(ranking.layer, ranking.experiment_id);
});

test('a full layer reports how much is free; exclusive audiences share it', () => {
  const group = { exclusion_group: 'one' };
  const german = { targeting: { countries: ['DE'] } };
  const first = start(draft({ ...group, ...german, traffic: 0.75 }), []);
  const full = draft({ ...group, traffic: 0.5 });
  assert.throws(() => start(full, [first]), /experiments of the group leave 0\.25 .* needs 0\.5\./);
  const french = { ...full, targeting: { countries: ['FR'] } };
  assert.ok(start(french, [first]).ranges);
  const ranking = start(draft({ type: 'ranking', traffic: 0.75 }), []);
  assert.throws(
    () => start(draft({ type: 'ranking', traffic: 0.5 }), [first, ranking]),
    /ranking experiments leave 0\.25 /,
  );
  const whole = { ...ranking, traffic: 1, ranges: grownRanges(ranking, 1, [first, ranking]) };
  assert.equal(shareOf(membersOf(whole)), 1);
  assert.deepEqual(grownRanges(draft({ traffic: 0.5 }), 0.9, [first]), [[0, 0.9]]);
});

test('ranking experiments need no keys', () => {
  const over = (type: 'ranking' | 'config') =>
    draft({
      type,
      traffic: 0.1,
      variants: [{ id: 'a', name: 'a', traffic: 1, config: { x: true } }],
    });
  const running = [start(over('ranking'), []), start(over('config'), [])];
  assert.equal(start(over('ranking'), running).layer, running[0]?.layer);
});
