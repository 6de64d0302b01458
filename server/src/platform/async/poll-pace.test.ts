import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PollPace } from './poll-pace.ts';

test('polls become rarer up to a limit, and frequent again once one finds something', () => {
  const pace = new PollPace({ shortestMs: 200, longestMs: 600 });
  const delays: number[] = [];
  for (let poll = 0; poll < 20; poll += 1) {
    delays.push(pace.ms);
    pace.foundNothing();
  }
  assert.equal(delays[0], 200);
  assert.deepEqual(
    delays,
    delays.toSorted((a, b) => a - b),
  );
  assert.equal(delays.at(-1), 600);
  pace.foundSomething();
  assert.equal(pace.ms, 200);
});
