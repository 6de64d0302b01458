/** Proves that the documentation matches the code. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { apiAreas } from '../app/composition.ts';
import { features } from '../app/features.ts';
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

test('the guide to keys explains every scope', async () => {
  const guide = await readFile(new URL('../../../docs/keys.md', import.meta.url), 'utf8');
  const table = guide.split('\n').filter((line) => line.startsWith('| `'));
  const areas = table.flatMap((line) =>
    [...(line.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, area = '']) => area),
  );
  const known = new Set(Object.values(apiAreas(features.list)));
  assert.deepEqual(areas.toSorted(), [...known].toSorted());
});
