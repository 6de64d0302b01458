import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Type } from 'typebox';
import { Closed, Nullable } from './schemas.ts';
import { hasSecrets, secretQuery, secretValue, withoutSecrets } from './secret-fields.ts';

const Headers = Nullable(Type.Record(Type.String(), Type.String(), secretValue));
const Request = Closed({
  name: Type.String(),
  url: Type.Optional(Type.String(secretQuery)),
  headers: Type.Optional(Headers),
  free: Type.Optional(Type.Unknown()),
  items: Type.Optional(Type.Array(Closed({ password: Type.String(secretValue) }))),
  either: Type.Optional(
    Type.Union([Closed({ a: Type.String() }), Closed({ b: Type.String(secretValue) })]),
  ),
});
const shown = (value: object) => withoutSecrets(Request, value);

test('what a schema marks is replaced as a whole, also in lists and unions; null stays', () => {
  assert.deepEqual(shown({ name: 'n', headers: { 'X-A': 'x', Cookie: 'y' } }), {
    name: 'n',
    headers: '[secret]',
  });
  assert.deepEqual(shown({ headers: null }), { headers: null });
  assert.deepEqual(shown({ items: [{ password: 'x' }, { password: ['x'] }] }), {
    items: [{ password: '[secret]' }, { password: '[secret]' }],
  });
  assert.deepEqual(shown({ either: { a: 'a', b: 'x', c: 'x' } }), {
    either: { a: 'a', b: '[secret]' },
  });
});

test('a URL loses its query string, its fragment and its credentials', () => {
  const cases: [unknown, string][] = [
    ['https://a.example/path?token=x#y', 'https://a.example/path'],
    ['https://me:x@a.example:8443/path', 'https://a.example:8443/path'],
    ['https:\\\\me:x@a.example\\path?x', 'https://a.example/path'],
    ['me:x@a.example', '[secret]'],
    ['data:text/plain,x', '[secret]'],
    [{ nested: 'https://a.example/?x' }, '[secret]'],
  ];
  for (const [url, expected] of cases) assert.deepEqual(shown({ url }), { url: expected });
});

test('fields that a closed object does not know are left out, free-form values stay', () => {
  const free = { token: 'public', list: [{ a: null }] };
  assert.deepEqual(shown({ name: 'n', free, token: 'x', headersX: {} }), { name: 'n', free });
  const odd = JSON.parse('{ "__proto__": { "password": "x" }, "constructor": "x" }') as object;
  assert.deepEqual(shown(odd), {});
});

test('a schema with a mark is distinguished from one without, however deep the mark is', () => {
  assert.ok(hasSecrets(Request));
  assert.ok(hasSecrets({ 200: Type.Object({ data: Type.Array(Headers) }) }));
  assert.ok(!hasSecrets(Type.Object({ name: Type.String({ description: 'x-secret' }) })));
  assert.ok(!hasSecrets(undefined));
});
