/** A million mutated inputs for each parser of untrusted bytes, with bounded memory. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fuzz, parsers } from '../../../test/live/parsers.ts';

const rounds = 20;
const inputsPerRound = 50_000;
const maxGrowthBytes = 64 * 1024 * 1024;

for (const parser of parsers) {
  test(`a million mutated ${parser.name}`, (t) => {
    fuzz(parser, inputsPerRound, 1);
    const { rss: before } = process.memoryUsage();
    let largest = before;
    // A different seed each day covers more inputs; a failure's message contains it.
    const seed = Math.floor(Date.now() / 86_400_000);
    for (let round = 0; round < rounds; round += 1) {
      fuzz(parser, inputsPerRound, seed * rounds + round);
      largest = Math.max(largest, process.memoryUsage().rss);
    }
    t.diagnostic(`${Math.round((largest - before) / 2 ** 20)} MB more at most, seed ${seed}`);
    assert.ok(largest - before <= maxGrowthBytes, `${largest - before} bytes more`);
  });
}
