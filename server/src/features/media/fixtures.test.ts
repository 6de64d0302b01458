import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRight, measure, QUICK_FIXTURES, type Facts } from './testing/fixtures.ts';
import { workFolder } from './testing/run-task.ts';

for (const fixture of QUICK_FIXTURES) {
  test(`${fixture.name} comes out right: ${fixture.what}`, async () => {
    await using folder = await workFolder();
    const actual = await measure(fixture, folder);
    for (const fact of Object.keys(fixture.expected) as (keyof Facts)[]) {
      const [is, should] = [actual[fact], fixture.expected[fact]];
      assert.ok(isRight(fact, actual, fixture.expected), `${fact} is ${is}, not ${should}`);
    }
  });
}
