/**
 * Proves that uploads of each kind keep their video and audio, or are rejected with a specific
 * error. `corpus.faults.test.ts` runs the whole corpus.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Log } from 'node-av/lib';
import { AV_LOG_QUIET } from 'node-av/constants';
import { judge } from './testing/corpus/judge.ts';
import { RECIPES } from './testing/corpus/recipes.ts';
import { workFolder } from './testing/run-task.ts';

const SAMPLE: readonly string[] = [
  'wmv2 in asf',
  'png in mov',
  'dca beside H.264 in matroska',
  'pcm_s32be beside H.264 in mov',
  '12.5 frames a second in mp4',
  'starts at 10 s in Matroska',
  'two recordings in TS, the second at 20 s',
  'TS from the middle of a packet',
  'ADTS behind a long ID3 tag',
  'a jingle before a long silent picture',
  'a second language that is longer in matroska',
  'other languages that are shorter, later and much longer',
  'two pictures, the small one is the default',
  'sound that can not be decoded',
  'svq1, which is not supported',
  'Dolby Vision profile 5',
  'animated GIF',
];

Log.setLevel(AV_LOG_QUIET);

for (const recipe of RECIPES.filter(({ name }) => SAMPLE.includes(name))) {
  test(recipe.name, async () => {
    await using folder = await workFolder();
    const { problems } = await judge(recipe, folder);
    assert.deepEqual(problems, []);
  });
}

test('each file of the sample is in the corpus', () => {
  const names = new Set(RECIPES.map(({ name }) => name));
  assert.equal(names.size, RECIPES.length);
  assert.deepEqual(
    SAMPLE.filter((name) => !names.has(name)),
    [],
  );
});
