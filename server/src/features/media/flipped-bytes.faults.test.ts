/**
 * Proves for hundreds of damaged files that each gets a result within its deadline and CPU limit
 * and plays if it is ready, and that nothing leaks memory.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Log } from 'node-av/lib';
import { AV_LOG_QUIET } from 'node-av/constants';
import { flippedFile, flippedRecipe } from './testing/hostile-files.ts';
import { workFolder } from './testing/run-task.ts';
import { childrenCpuMs, tryFile } from './testing/try-file.ts';

const FILES = 300;
const DEADLINE_MS = 120_000;
const MAX_CPU_MS = 30_000;
const MAX_GROWTH_BYTES = 200 * 1024 ** 2;

Log.setLevel(AV_LOG_QUIET);
const work = await workFolder();
after(() => work[Symbol.asyncDispose]());

test(`${FILES} files with flipped bytes end in ready or in an error about their bytes`, async (t) => {
  const outcomes = new Map<string, number>();
  let before = 0;
  let slowest = { name: '', cpuMs: 0 };
  for (let seed = 1_000; seed < 1_000 + FILES; seed += 1) {
    const file =
      seed % 2 === 0 ? await flippedFile(seed / 2) : await flippedRecipe(seed, work.path);
    // The first file also creates the samples.
    if (before === 0) before = process.memoryUsage().rss;
    const startMs = await childrenCpuMs();
    const outcome = await tryFile(file, DEADLINE_MS);
    const cpuMs = (await childrenCpuMs()) - startMs;
    if (cpuMs > slowest.cpuMs) slowest = { name: file.name, cpuMs };
    assert.match(outcome, /^(ready|UNSUPPORTED_MEDIA|CORRUPT_MEDIA|TOO_LONG)$/, file.name);
    assert.ok(cpuMs < MAX_CPU_MS, `${file.name} took ${cpuMs} ms of CPU time`);
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
  t.diagnostic([...outcomes].map(([outcome, count]) => `${outcome} ${count}`).join(', '));
  t.diagnostic(`the slowest is ${slowest.name}: ${slowest.cpuMs} ms of CPU time`);
  assert.ok(process.memoryUsage().rss - before < MAX_GROWTH_BYTES);
});
