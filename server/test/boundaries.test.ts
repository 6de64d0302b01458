/**
 * Proves the boundaries between the parts of the server: who imports whom, and that a name stands
 * for one thing. Who has SQL on which table is in `table-owners.test.ts`.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { featureOf, readSources, readTestFiles } from './boundaries/sources.ts';

const sources = readSources();

function check(broken: readonly string[]): void {
  assert.deepEqual(broken.toSorted(), []);
}

test('the platform imports no feature and nothing of the composition root', () => {
  const broken = sources
    .filter(({ file }) => file.startsWith('platform/'))
    .flatMap(({ file, imports }) => imports.map(({ to }) => `${file} → ${to}`))
    .filter((edge) => !/ → (platform\/|version\.ts)/.test(edge));
  check(broken);
});

test('features import each other only through their faces, and only the feature list imports declarations', () => {
  const broken: string[] = [];
  for (const { file, feature: own, imports } of sources) {
    for (const { to } of imports) {
      const other = featureOf(to);
      const isFace = other !== null && isFaceOf(other, to);
      const isDeclared = file === 'app/features.ts' && to === `features/${other}/feature.ts`;
      if (own !== null && to.startsWith('app/')) broken.push(`${file} → ${to}`);
      if (other !== null && other !== own && !isFace && !isDeclared) broken.push(`${file} → ${to}`);
    }
  }
  check(broken);
});

test('there are no cycles among the feature folders, including types', () => {
  const imported = new Map<string, Set<string>>();
  for (const { feature: own, imports } of sources) {
    if (own === null) continue;
    const others = imported.get(own) ?? new Set();
    for (const { to } of imports) others.add(featureOf(to) ?? own);
    imported.set(own, others);
  }
  const importedBy = (feature: string) =>
    [...(imported.get(feature) ?? [])].filter((other) => other !== feature);
  const reaches = (from: string, goal: string, seen = new Set<string>()): boolean => {
    if (from === goal) return true;
    if (seen.has(from)) return false;
    seen.add(from);
    return importedBy(from).some((other) => reaches(other, goal, seen));
  };
  const broken = [...imported.keys()].flatMap((feature) =>
    importedBy(feature)
      .filter((other) => reaches(other, feature))
      .map((other) => `${feature} → ${other}`),
  );
  check(broken);
});

test('only tests import tests and fixtures', () => {
  const broken = sources.flatMap(({ file, imports }) =>
    imports
      .filter(({ to }) => /\.(?:test|fixture)\.ts$|\/test\//.test(to))
      .map(({ to }) => `${file} → ${to}`),
  );
  check(broken);
});

test('helpers in src serve the tests of their folder alone, and all others are in test/', () => {
  const broken = readTestFiles().flatMap(({ file, imports }) =>
    imports
      .filter(({ to }) => to.startsWith('src/') && to.endsWith('.fixture.ts'))
      .filter(({ to }) => path.dirname(to) !== path.dirname(file))
      .map(({ to }) => `${file} → ${to}`),
  );
  check(broken);
});

test('an exported name has one meaning', () => {
  const filesOf = new Map<string, string[]>();
  for (const { file, parsed } of sources) {
    // Excludes `export … from`, which re-exports another file's declaration, and the feature
    // declarations, which share names.
    if (file.endsWith('/feature.ts')) continue;
    const names = parsed.module.staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest, exportName }) =>
        moduleRequest === null && exportName.name !== null ? [exportName.name] : [],
      ),
    );
    for (const name of new Set(names)) filesOf.set(name, [...(filesOf.get(name) ?? []), file]);
  }
  check([...filesOf].flatMap(([name, files]) => (files.length > 1 ? [name] : [])));
});

/**
 * Features that are too large for one face: the file named after each of their folders is one,
 * too, such as `features/content/feed-items/feed-items.ts`.
 */
const featuresWithFaces = new Set(['content']);

function isFaceOf(feature: string, file: string): boolean {
  const [, , ...names] = file.split('/');
  if (names.length === 1) return names[0] === `${feature}.ts`;
  const [folder, name] = names;
  return featuresWithFaces.has(feature) && names.length === 2 && name === `${folder}.ts`;
}
