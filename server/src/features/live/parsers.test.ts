/** For any input, a parser either returns or throws its documented error. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fuzz, parsers } from '../../../test/live/parsers.ts';

for (const parser of parsers) {
  test(`mutated ${parser.name} are answered or refused`, () => {
    let [taken, refused] = [0, 0];
    for (const bytes of parser.seeds) {
      try {
        parser.run(bytes);
        taken += 1;
      } catch (error) {
        assert.ok(parser.isExpected(error), String(error));
        refused += 1;
      }
    }
    assert.ok(taken > 0, 'some inputs are right');
    assert.equal(taken + refused, parser.seeds.length);
    fuzz(parser, 5_000, 20_261_124);
  });
}
