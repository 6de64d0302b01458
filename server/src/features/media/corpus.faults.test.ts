/** Runs the whole corpus of valid files; `corpus.test.ts` covers one of each kind. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Log } from 'node-av/lib';
import { AV_LOG_QUIET } from 'node-av/constants';
import { launchBrowser } from '../../../test/browser.ts';
import { judge, type Judgement } from './testing/corpus/judge.ts';
import { playFolder } from './testing/corpus/play.ts';
import type { Recipe } from './testing/corpus/recipe.ts';
import { RECIPES } from './testing/corpus/recipes.ts';
import { workFolder } from './testing/run-task.ts';

const AT_ONCE = 2;
const PLAYED_EVERY = 10;
const MIN_FILES = 200;

Log.setLevel(AV_LOG_QUIET);
const { browser, reason } = await launchBrowser();
after(() => browser?.close());

let played = 0;

async function judgeAndPlay(recipe: Recipe, index: number): Promise<Judgement> {
  await using folder = await workFolder();
  const judgement = await judge(recipe, folder);
  const { outputDir, problems } = judgement;
  const isPlayed = index % PLAYED_EVERY === 0 && recipe.expected.verdict === 'ready';
  if (!isPlayed || outputDir === null || browser === null) return judgement;
  played += 1;
  const problem = await playFolder(browser, outputDir, recipe.expected.seconds);
  return problem === null ? judgement : { ...judgement, problems: [...problems, problem] };
}

test('every valid file becomes what it is, or is refused with the reason', async (t) => {
  assert.ok(RECIPES.length >= MIN_FILES);
  const judgements: Judgement[] = [];
  const waiting = [...RECIPES.entries()];
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      judgements.push(await judgeAndPlay(next[1], next[0]));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  for (const { name, problems } of judgements) {
    if (problems.length > 0) t.diagnostic(`${name}: ${problems.join('; ')}`);
  }
  const worst = (pick: (one: Judgement) => number | null): number =>
    Math.max(...judgements.map((one) => pick(one) ?? 0));
  const lowest = Math.min(...judgements.map(({ similarity }) => similarity ?? 1));
  t.diagnostic(`${judgements.length} files, ${played} played in ${reason ?? 'Chromium'}`);
  t.diagnostic(
    `SSIM ≥ ${lowest.toFixed(3)}, length within ${worst((one) => one.lengthErrorMs)} ms, ` +
      `sound within ${worst((one) => one.offsetErrorMs)} ms`,
  );
  const failed = judgements.filter(({ problems }) => problems.length > 0);
  assert.deepEqual(
    failed.map(({ name }) => name),
    [],
  );
});
