/**
 * Every API operation is available in the console: the table names an existing view, and the
 * console's sources call the operation.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { places } from './operations.fixture.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const sources = globSync('console/src/**/*.{ts,tsx}', { cwd: root }).map((file) =>
  readFileSync(`${root}${file}`, 'utf8'),
);
const all = sources.join('\n');

type Description = { paths: Record<string, Record<string, { operationId?: string }>> };
const { paths } = JSON.parse(readFileSync(`${root}docs/openapi.json`, 'utf8')) as Description;
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).flatMap(([method, { operationId }]) =>
    operationId === undefined ? [] : [{ id: operationId, method, path }],
  ),
);

const quoted = (path: string) => path.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

/** Whether the console calls it: through the client, a hook, a file form, or a stream. */
function isCalled(method: string, path: string): boolean {
  const place = quoted(path);
  const patterns = [String.raw`api\s*\.(?:${method})\(\s*'${place}'`];
  if (method === 'get') {
    patterns.push(String.raw`use(?:Read|List|Tagged)(?:<[^>]*>)?\(\s*'${place}'`);
    patterns.push(String.raw`api\s*\.each\(\s*'${place}'`, String.raw`openStream\('${place}'`);
  }
  // Forms with files use an address that contains the id.
  const address = quoted(path.replaceAll(/\{\w+\}/g, '@')).replaceAll('@', String.raw`\$\{[^}]+\}`);
  const isPut = method === 'put';
  if (isPut) patterns.push(`sendForm\\(\`${address}\`[^;]*'PUT'`);
  if (method === 'post') patterns.push(`sendForm\\(\`${address}\`, \\w+\\)`);
  return patterns.some((pattern) => new RegExp(pattern).test(all));
}

const viewOf = (path: string) =>
  [...all.matchAll(/\/\^(\\\/\S+)\$\/,\s*load\(/g)].some((found) =>
    new RegExp(`^${found[1] ?? ''}$`).test(path.replaceAll(/\{\w+\}/g, 'some')),
  );

test('every operation of the API has a place in the console', () => {
  assert.deepEqual(
    operations.filter(({ id }) => !(id in places)).map(({ id }) => id),
    [],
    'operations without a place: add a page or a control, and name it in operations.fixture.ts',
  );
  const known = new Set(operations.map(({ id }) => id));
  assert.deepEqual(
    Object.keys(places).filter((id) => !known.has(id)),
    [],
  );
});

test('every place is a view of the console', () => {
  const missing = Object.entries(places).filter(([, { view }]) => !viewOf(view));
  assert.deepEqual(missing, []);
});

test('the console calls every operation that has a place, or the one that does the same', () => {
  const called = new Set(
    operations.filter(({ method, path }) => isCalled(method, path)).map(({ id }) => id),
  );
  // Resumable uploads go to the upload's address through tus.
  if (/\bupload\(file, \{ uploadUrl/.test(all)) called.add('tus');
  const missing = operations.filter(({ id }) => {
    const place = places[id];
    return place !== undefined && !called.has(place.by ?? id);
  });
  assert.deepEqual(missing, []);
});
