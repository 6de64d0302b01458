/** Proves that no promise is unhandled between its start and the code that awaits it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findHeldPromises } from './held-promises.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const fixture = fileURLToPath(new URL('./held-promises.fixture.ts', import.meta.url));
/** In tests, an unhandled rejection is a visible failure. */
const isTest = (file: string) => /\.test\.ts$|\.fixture\.ts$|\/server\/test\/|\/bench\//.test(file);
const isOurs = (file: string) => file.startsWith(root) && !file.includes('/node_modules/');

const found = ['tsconfig.json', 'console/tsconfig.json'].flatMap((name) =>
  findHeldPromises(root + name, (file) => isOurs(file) && (!isTest(file) || file === fixture)),
);

test('every planted sample is found, and nothing else in the samples', () => {
  const lines = readFileSync(fixture, 'utf8').split('\n');
  const planted = lines.flatMap((line, index) => (line.endsWith('// finding') ? [index + 1] : []));
  assert(planted.length >= 9);
  const lineNumbers = found.filter(({ file }) => file === fixture).map(({ line }) => line);
  assert.deepEqual(
    lineNumbers.toSorted((a, b) => a - b),
    planted,
  );
});

test('in the sources, each promise is awaited immediately or its rejection is handled', () => {
  const places = found
    .filter(({ file }) => file !== fixture)
    .map(({ file, line, text }) => `${file.slice(root.length)}:${line} ${text}`);
  assert.deepEqual(places, [], 'use Promise.all, or awaitedLater');
});
