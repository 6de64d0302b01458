/** Proves that the documentation says what the code does. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { generatedParts, withPart } from './docs.ts';

for (const part of generatedParts) {
  test(`the part "${part.name}" is what the code makes; mend it by \`npm run docs\``, async () => {
    const text = await readFile(part.file, 'utf8');
    assert.equal(withPart(text, part), text);
  });
}

test('a document without the markers is left alone', () => {
  const generate = () => 'anything';
  assert.throws(() => withPart('# Something else', { name: 'settings', generate }), /no markers/);
});
