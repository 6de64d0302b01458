/** Some hundred damaged files: each ends in an answer within its deadline, and nothing grows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { flippedFile } from './testing/hostile-files.ts';
import { tryFile } from './testing/try-file.ts';

const FILES = 300;
const AT_ONCE = 2;
const DEADLINE_MS = 120_000;
const MAX_GROWTH_BYTES = 100 * 1024 ** 2;

test(`${FILES} files with flipped bytes end in ready or in an error about their bytes`, async (t) => {
  const outcomes = new Map<string, number>();
  const before = process.memoryUsage().rss;
  let seed = 1_000;
  const worker = async (): Promise<void> => {
    while (seed < 1_000 + FILES) {
      const file = await flippedFile(seed++);
      const outcome = await tryFile(file, DEADLINE_MS);
      assert.match(outcome, /^(ready|UNSUPPORTED_MEDIA|CORRUPT_MEDIA|TOO_LONG)$/, file.name);
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  t.diagnostic([...outcomes].map(([outcome, count]) => `${outcome} ${count}`).join(', '));
  assert.ok(process.memoryUsage().rss - before < MAX_GROWTH_BYTES);
});
