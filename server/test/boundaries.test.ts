/**
 * Proves the module boundaries of the server: who imports whom, and who has SQL on which table.
 * Existing violations are listed by name. The lists may only shrink: an obsolete entry also fails
 * the test.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { features } from '../src/app/features.ts';

const src = fileURLToPath(new URL('../src/', import.meta.url));
const files = globSync('**/*.ts', { cwd: src })
  .filter((file) => !/\.(test|fixture)\.ts$|conformance|\/testing\//.test(file))
  .toSorted();

const featureOf = (file: string) => /^features\/([^/]+)\//.exec(file)?.[1] ?? null;

/** Our own modules that a file imports, as paths below `src`. */
function importsOf(file: string): string[] {
  const text = readFileSync(path.join(src, file), 'utf8');
  const specifiers = [...text.matchAll(/^(?:import|export)\b[^;]*?\bfrom '(\.[^']+)';/gm)];
  return specifiers.map(([, to = '']) => path.join(path.dirname(file), to));
}

function check(broken: readonly string[], known: readonly string[]): void {
  assert.deepEqual(broken.toSorted(), known.toSorted());
}

test('the platform imports no feature and nothing of the composition root', () => {
  const broken = files
    .filter((file) => file.startsWith('platform/'))
    .flatMap((file) => importsOf(file).map((to) => `${file} → ${to}`))
    .filter((edge) => !/ → (platform\/|version\.ts)/.test(edge));
  check(broken, []);
});

test('features meet at their faces, and only the list of features imports a declaration', () => {
  const broken: string[] = [];
  for (const file of files) {
    for (const to of importsOf(file)) {
      const [own, other] = [featureOf(file), featureOf(to)];
      const isFace = to === `features/${other}/${other}.ts`;
      const isDeclared = file === 'app/features.ts' && to === `features/${other}/feature.ts`;
      if (own !== null && to.startsWith('app/')) broken.push(`${file} → ${to}`);
      if (other !== null && other !== own && !isFace && !isDeclared) broken.push(`${file} → ${to}`);
    }
  }
  check(broken, faceDebts);
});

test('no circle is among the folders of features, types included', () => {
  const imported = new Map<string, Set<string>>();
  for (const file of files) {
    const own = featureOf(file);
    if (own === null) continue;
    const others = imported.get(own) ?? new Set();
    for (const to of importsOf(file)) others.add(featureOf(to) ?? own);
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
  check(broken, []);
});

test('a feature has SQL on its own tables alone', () => {
  const broken = new Set<string>();
  for (const file of [...files, ...globSync('**/functions.sql', { cwd: src })]) {
    const text = readFileSync(path.join(src, file), 'utf8').replaceAll(
      /\/\*[\s\S]*?\*\/|\/\/.*|^ *--.*/gm,
      '',
    );
    for (const { name, tables } of features.list) {
      if (featureOf(file) === name || !/^(features|platform)\//.test(file)) continue;
      for (const table of tables) if (hasSqlOn(text, table)) broken.add(`${file}: ${table}`);
    }
  }
  check([...broken], tableDebts);
});

/** Whether a table is used in a statement: after an SQL keyword, or in a Kysely method. */
function hasSqlOn(text: string, table: string): boolean {
  const inSql = new RegExp(
    `\\b(?:from|join|into|update|table|truncate|exists)\\s+(?:only\\s+)?${table}\\b`,
  );
  const inKysely = new RegExp(`(?:From|Into|Table|Join|using)\\(\\s*'${table}(?: as \\w+)?'`);
  return inSql.test(text) || inKysely.test(text);
}

const faceDebts: readonly string[] = [];

const tableDebts: readonly string[] = [];
