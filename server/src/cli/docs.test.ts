/** Proves that the documentation says what the code does. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { withSettings } from './docs.ts';

test('the table of settings in the README is the one of the code; mend it by `npm run docs`', async () => {
  const readme = await readFile(new URL('../../../README.md', import.meta.url), 'utf8');
  assert.equal(withSettings(readme), readme);
});

test('a README without the markers is left alone', () => {
  assert.throws(() => withSettings('# Something else'), /no markers/);
});
