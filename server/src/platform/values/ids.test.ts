/** Proves the formats of ids, and that later ids sort later. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  momentOfTypeId,
  newContentId,
  newTypeId,
  newTypeIdAt,
  parseContentId,
  parseTypeId,
  randomName,
} from './ids.ts';

test('a content id is read in any case and given back in lower case', () => {
  const id = newContentId();
  assert.equal(parseContentId(id), id);
  assert.equal(parseContentId(id.toUpperCase()), id);
});

test('only UUIDs of version 7 are content ids', () => {
  const id = newContentId();
  const wrong = [
    '',
    'latest',
    id.replaceAll('-', ''),
    `{${id}}`,
    `${id} `,
    `${id}0`,
    id.slice(1),
    '00000000-0000-0000-0000-000000000000',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
    '9f1c2b1e-6f0a-4c1e-8a55-0c4f3f1c7a11',
    `${id.slice(0, -1)}g`,
    `${id.slice(0, -1)}\0`,
  ];
  for (const raw of wrong) assert.equal(parseContentId(raw), null, JSON.stringify(raw));
});

test('a typed id is accepted only with its own prefix', () => {
  const id = newTypeId('key');
  assert.match(id, /^key_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
  assert.equal(parseTypeId('key', id), id);
  const suffix = id.slice(4);
  const wrong = [
    '',
    suffix,
    `_${suffix}`,
    `org_${suffix}`,
    `key__${suffix}`,
    `key-${suffix}`,
    `KEY_${suffix}`,
    `key_${suffix.toUpperCase()}`,
    `key_8${suffix.slice(1)}`,
    `key_${suffix.slice(1)}`,
    `key_${suffix}0`,
    `key_${suffix}\n`,
    `key_${'l'.repeat(26)}`,
    'key_'.repeat(10_000),
  ];
  for (const raw of wrong)
    assert.equal(parseTypeId('key', raw), null, JSON.stringify(raw).slice(0, 50));
});

test('ids made one after another sort in that order, and none comes twice', () => {
  for (const make of [newContentId, () => newTypeId('job')]) {
    const ids = Array.from({ length: 10_000 }, make);
    assert.deepEqual(ids.toSorted(), ids);
    assert.equal(new Set(ids).size, ids.length);
  }
});

test('an id made for a given time contains that time, to the millisecond', () => {
  const moments = [
    '2001-09-09T01:46:40.000Z',
    '2026-11-20T22:00:00.123Z',
    '2199-01-01T00:00:00.999Z',
  ];
  const ids = moments.map((moment) => newTypeIdAt('dlv', new Date(moment)));
  assert.deepEqual(
    ids.map((id) => momentOfTypeId(id).toISOString()),
    moments,
  );
  assert.deepEqual(ids.toSorted(), ids);
});

test('a random name is as long as its bytes and fits a URL', () => {
  const names = Array.from({ length: 1_000 }, () => randomName(16));
  for (const name of names) assert.match(name, /^[\w-]{22}$/);
  assert.equal(new Set(names).size, names.length);
});
