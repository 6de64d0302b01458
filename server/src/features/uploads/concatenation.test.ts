import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { maxPartials, readConcat } from './concatenation.ts';

const url = (token: string) => `https://video.example/v1/uploads/${token}`;

test('an upload without the header is whole, and `partial` is a part', () => {
  assert.equal(readConcat(undefined), null);
  assert.deepEqual(readConcat('partial'), { kind: 'partial' });
});

test('`final` names parts in order, by whole URLs or by paths', () => {
  const token = fc.stringMatching(/^[\w-]{1,32}$/);
  const tokens = fc.array(token, { minLength: 1, maxLength: maxPartials });
  fc.assert(
    fc.property(tokens, fc.boolean(), (names, isPath) => {
      const urls = names.map((name) => (isPath ? `/v1/uploads/${name}` : url(name)));
      const concat = `final;${urls.join(' ')}`;
      assert.deepEqual(readConcat(concat), { kind: 'final', concat, tokens: names });
    }),
  );
  const spaced = `final; ${url('a')}   ${url('b')} `;
  assert.deepEqual(readConcat(spaced), { kind: 'final', concat: spaced, tokens: ['a', 'b'] });
});

test('what names no parts, or too many, is refused', () => {
  const many = Array.from({ length: maxPartials + 1 }, (_, n) => url(`part-${n}`)).join(' ');
  for (const wrong of [
    '',
    'final',
    'final;',
    'Partial',
    'partial;',
    `final ${url('a')}`,
    'final;https://video.example/v1/other/a',
    `final;${url('a')} ${url('')}`,
    `final;${url('a')}?x=1`,
    `final;${url('a')},${url('b')},`,
    `final;${many}`,
  ])
    assert.throws(() => readConcat(wrong), { code: 'INVALID_REQUEST' }, wrong);
});
