/**
 * A/A experiments through the real assignment, exposures, event log, projection, looks and statistics,
 * with the clock passed in. `bench/experiment-errors.ts` is the long version.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTestDatabase } from '../../../test/database.ts';
import { simulate } from './simulation.fixture.ts';

test('experiments without an effect rarely name one under daily reading, and raise no alarm', async () => {
  const { db } = await openTestDatabase();
  const outcome = await simulate(db, { experiments: 32, viewers: 200, seed: 7, split: 0.5 });
  assert.equal(outcome.participants, 32 * 200);
  assert.equal(outcome.tested, 32, JSON.stringify(outcome));
  // 5 % are expected at most: 6 of 32 would be one chance in 150.
  assert.ok(outcome.differences <= 5, JSON.stringify(outcome));
  assert.ok(outcome.alarms <= 1, JSON.stringify(outcome));
});
