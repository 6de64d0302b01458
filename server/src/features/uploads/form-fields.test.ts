/** Tests what the text fields of an upload form mean. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readField } from './form-fields.ts';

const refused = (path: string, message: RegExp) => (error: { details?: unknown }) => {
  const [detail] = error.details as { path: string; message: string }[];
  return detail?.path === path && message.test(detail.message);
};

test('a text is itself, and an empty one is null, except the title', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), (text) =>
      assert.equal(readField('author', [text]), text),
    ),
  );
  assert.equal(readField('author', ['']), null);
  assert.equal(readField('author', []), null);
  assert.equal(readField('title', ['']), '');
});

test('`protected` is true or false, and anything else is left to the schema', () => {
  assert.deepEqual(
    ['true', 'false', 'yes', ''].map((text) => readField('protected', [text])),
    [true, false, 'yes', ''],
  );
});

test('only tags may be given more than once', () => {
  for (const name of ['title', 'customMetadata', 'protected', 'section'])
    assert.throws(() => readField(name, ['1', '1']), refused(name, /more than once/));
  assert.deepEqual(readField('tags', ['a', 'b']), ['a', 'b']);
});

test('tags are repeated fields, a JSON list, or separated by commas', () => {
  const word = fc.stringMatching(/^[a-z\]"]{1,8}$/);
  fc.assert(
    fc.property(fc.array(word, { minLength: 1 }), (tags) => {
      assert.deepEqual(readField('tags', tags), tags);
      assert.deepEqual(readField('tags', [tags.join(' , ')]), tags);
      assert.deepEqual(readField('tags', [` ${JSON.stringify(tags)}`]), tags);
    }),
  );
  assert.deepEqual(readField('tags', ['a,, b,']), ['a', 'b']);
  assert.deepEqual(readField('tags', ['']), []);
  assert.deepEqual(readField('tags', ['[a', 'b]']), ['[a', 'b]'], 'JSON stands alone');
  assert.throws(() => readField('tags', ['[a']), refused('tags', /must be JSON/));
});

test('custom metadata is JSON without the key __proto__, within the limits of a body', () => {
  const read = (text: string) => readField('customMetadata', [text]);
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
      const text = JSON.stringify(value);
      fc.pre(!text.includes('__proto__') && !/\d{16}|e[+-]?\d{3}/.test(text));
      assert.deepEqual(read(text), JSON.parse(text));
    }),
  );
  assert.throws(() => read('{'), refused('customMetadata', /must be JSON/));
  assert.throws(() => read(''), refused('customMetadata', /must be JSON/));
  assert.throws(() => read('{"a":{"__proto__":1}}'), refused('customMetadata', /__proto__/));
  assert.throws(() => read('['.repeat(65)), refused('customMetadata', /nested deeper/));
  assert.throws(() => read('1e400'), refused('customMetadata', /./));
});
