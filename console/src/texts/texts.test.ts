/** Every language has every text, and pages contain no text outside the catalogue. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parseAst } from 'vite';
import { data } from './german/data.ts';
import { german } from './german/german.ts';
import { spanish } from './spanish/spanish.ts';

const folder = fileURLToPath(new URL('../', import.meta.url));
const sources = globSync('**/*.{ts,tsx}', { cwd: folder })
  .filter((name) => !name.startsWith('texts') && !name.endsWith('.test.ts'))
  .map((name) => ({ name, code: readFileSync(path.join(folder, name), 'utf8') }));

type Node = { type: string; [key: string]: unknown };

function* nodesOf(value: unknown): Generator<Node> {
  if (Array.isArray(value)) for (const one of value) yield* nodesOf(one);
  if (typeof value !== 'object' || value === null || !('type' in value)) return;
  yield value as Node;
  for (const child of Object.values(value)) yield* nodesOf(child);
}

const nodes = sources.flatMap(({ name, code }) =>
  [...nodesOf(parseAst(code, { lang: name.endsWith('x') ? 'tsx' : 'ts' }).body)].map((node) => ({
    name,
    node,
  })),
);

const placeholders = (text: string): string[] => [...new Set(text.match(/\{\w+\}/g))].toSorted();

test('each language has each text, with the same values and forms', () => {
  const languages: Record<string, Readonly<Record<string, string>>> = { german, spanish };
  for (const [language, texts] of Object.entries(languages)) {
    assert.deepEqual(Object.keys(texts).toSorted(), Object.keys(german).toSorted(), language);
    for (const [key, text] of Object.entries(texts)) {
      assert.notEqual(text.trim(), '', `${language}: ${key}`);
      assert.deepEqual(placeholders(text), placeholders(key), `${language}: ${key}`);
      assert.equal(text.split('|').length, key.split('|').length, `${language}: ${key}`);
    }
  }
});

test('the catalogue contains exactly the texts that pages use', () => {
  const used = new Set(
    nodes.flatMap(({ node: { type, callee, arguments: given } }) => {
      const isText = type === 'CallExpression' && (callee as Node)['name'] === 't';
      const [text] = isText ? (given as readonly Node[]) : [];
      return typeof text?.['value'] === 'string' ? [text['value']] : [];
    }),
  );
  const known = new Set<string>(Object.keys(german));
  assert.deepEqual(
    [...used].filter((text) => !known.has(text)),
    [],
  );
  // Texts of `data` are values that the API returns.
  assert.deepEqual(
    [...known].filter((text) => !used.has(text) && !(text in data)),
    [],
  );
});

test('no page contains a text outside the catalogue', () => {
  const verbatim = new Set(['code', 'Code', 'Kbd']);
  const inCode = new Set(
    nodes.flatMap(({ node }) => {
      const opening = node['openingElement'] as { name: Node } | undefined;
      return opening !== undefined && verbatim.has(String(opening.name['name']))
        ? (node['children'] as Node[])
        : [];
    }),
  );
  const found = nodes.flatMap(({ name, node }) => {
    const text = node.type === 'JSXText' ? String(node['value']).trim() : '';
    return /[A-Za-z]{2}/.test(text) && !inCode.has(node) ? [`${name}: ${text}`] : [];
  });
  assert.deepEqual(found, []);
});

/** Sample inputs are the same in every language. */
const sample =
  /^((https?|rtmps?|srt):\/\/|[a-z]{2}$|[A-Z]{2}$|us-east-1$|Europe\/|ops@|Authorization:|-----BEGIN)/;

test('no visible attribute contains a text outside the catalogue', () => {
  const read = new Set(['label', 'placeholder', 'title', 'description', 'aria-label', 'alt']);
  const found = nodes.flatMap(({ name, node }) => {
    if (node.type !== 'JSXAttribute' || !read.has(String((node['name'] as Node)['name'])))
      return [];
    const text = (node['value'] as Node | null)?.['value'];
    const isText = typeof text === 'string' && /[A-Za-z]{2}/.test(text) && !sample.test(text);
    return isText ? [`${name}: ${text}`] : [];
  });
  assert.deepEqual(found, []);
});
