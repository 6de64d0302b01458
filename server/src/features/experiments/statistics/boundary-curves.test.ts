/** Proves that curves are calculated once, in a thread that lives only while it is needed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../../../test/waiting.ts';
import { curveOf } from './boundary-curves.ts';
import { boundaryCurve } from './group-sequential.ts';

const looksAt = (...times: number[]) => times.map((time) => ({ time, spentTime: time }));

const threads = () =>
  process.getActiveResourcesInfo().filter((resource) => resource === 'MessagePort').length;

test('each list of looks has its own curve, whoever else is waiting', async () => {
  const before = threads();
  let started = 0;
  process.on('worker', () => (started += 1));
  const asked = [looksAt(1), looksAt(0.5, 1), looksAt(0.5)];
  const curves = asked.map(curveOf);
  assert.equal(
    curveOf(looksAt(0.5, 1)),
    curves[1],
    'a curve is calculated only once for concurrent requests',
  );
  for (const [index, curve] of (await Promise.all(curves)).entries()) {
    assert.deepEqual(curve, boundaryCurve(asked[index] ?? []));
  }
  assert.equal(curveOf(looksAt(1)), curves[0], 'and afterwards');
  assert.equal(started, 1, 'one thread for all who wait');
  const moved = [{ time: 0.5, spentTime: 0.8 }];
  assert.deepEqual(await curveOf(moved), boundaryCurve(moved));
  assert.notDeepEqual(await curveOf(moved), await curveOf(looksAt(0.5)));
  await until('the end of the thread', threads, (count) => count === before);
});
