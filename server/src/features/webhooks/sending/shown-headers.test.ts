import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { shownHeaders } from './shown-headers.ts';

const same = (text: string): string => text;

test('names are in lower case, lists are joined, and what is absent is left out', () => {
  const { request, response } = shownHeaders(null, { 'X-A': ['1', '2'], 'x-b': undefined }, same);
  assert.equal(request, null);
  assert.deepEqual(response, { 'x-a': '1, 2' });
});

test('values that give access are hidden, and so is what `hide` takes out', () => {
  const sent = { Authorization: 'Bearer abc', 'Proxy-Authorization': 'Basic abc', accept: '*/*' };
  const received = { 'set-cookie': ['session=1'], 'x-echo': 'you said token-1' };
  const { request, response } = shownHeaders(sent, received, (text) =>
    text.replaceAll('token-1', '…'),
  );
  assert.deepEqual(request, {
    authorization: '[secret]',
    'proxy-authorization': '[secret]',
    accept: '*/*',
  });
  assert.deepEqual(response, { 'set-cookie': '[secret]', 'x-echo': 'you said …' });
});

test('a header that does not fit is left out entirely, and smaller ones after it are kept', () => {
  const { response } = shownHeaders({}, { big: 'x'.repeat(4_096), small: 'y' }, same);
  assert.deepEqual(response, { small: 'y' });
});

test('4 KiB are for request and response together, names included', () => {
  const shown = (length: number) =>
    shownHeaders({ sent: 'x'.repeat(2_000) }, { full: 'y'.repeat(length), z: '' }, same);
  // 4 + 2,000 + 4 + 2,087 + 1 = 4,096
  assert.deepEqual(Object.keys(shown(2_087).response ?? {}), ['full', 'z']);
  assert.deepEqual(Object.keys(shown(2_088).response ?? {}), ['full']);
  assert.deepEqual(Object.keys(shown(2_089).response ?? {}), ['z']);
});

test('whatever the headers are, at most 32 of each side and 4 KiB in all are kept, each as it was', () => {
  const side = fc.dictionary(
    fc.stringMatching(/^[a-z][a-z0-9-]{0,40}$/).map((name) => `x-${name}`),
    fc.string({ maxLength: 600 }),
    { maxKeys: 60 },
  );
  fc.assert(
    fc.property(side, side, (sent, received) => {
      const shown = shownHeaders(sent, received, same);
      const kept = [shown.request, shown.response].map((headers) => Object.entries(headers ?? {}));
      const size = kept.flat().reduce((sum, [name, value]) => sum + name.length + value.length, 0);
      assert.ok(size <= 4_096);
      for (const [index, given] of [sent, received].entries()) {
        const entries = kept[index] ?? [];
        assert.ok(entries.length <= 32);
        for (const [name, value] of entries) {
          assert.equal(value, given[name]?.replaceAll('\0', '\uFFFD'));
        }
      }
    }),
  );
});
