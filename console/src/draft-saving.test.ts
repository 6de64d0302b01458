/** Tests what a form sends, for which version, and when its editor must resolve a conflict. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ReelfeedError } from '@reelfeed/client/session';
import { changed, store, type Version } from './draft-saving.ts';

type Values = { title: string; tags: string[]; section: string };
const began: Version<Values> = {
  values: { title: 'One', tags: ['a'], section: 'news' },
  tag: '"1"',
};

const failure = (status: number) =>
  new ReelfeedError({
    code: 'FAILED',
    message: 'failed',
    status,
    requestId: null,
    retryAfterMs: null,
    details: [],
  });

/** A resource stored with an `ETag`, which records what is written to it. */
function resource(stored: Version<Values>, { hasTags = true, refusals = 0 } = {}) {
  let [left, reads] = [refusals, 0];
  const writes: [Partial<Values>, string | null][] = [];
  return {
    writes,
    reads: () => reads,
    read: async () => {
      reads += 1;
      return { ...stored, tag: hasTags ? stored.tag : null };
    },
    write: async (changes: Partial<Values>, tag: string | null) => {
      if (left > 0 || (tag !== null && tag !== stored.tag)) {
        left -= 1;
        throw failure(412);
      }
      writes.push([changes, tag]);
    },
  };
}

test('only fields that differ from their original values are changes', () => {
  assert.deepEqual(changed(began.values, { title: 'One', tags: ['a'], section: 'sport' }), {
    section: 'sport',
  });
  assert.deepEqual(changed(began.values, { tags: ['a', 'b'] }), { tags: ['a', 'b'] });
  assert.deepEqual(changed(began.values, {}), {});
});

test('changes are written for the version in which they began', async () => {
  const item = resource(began);
  assert.deepEqual(await store({ title: 'Two' }, began, item), { others: [] });
  assert.deepEqual(item.writes, [[{ title: 'Two' }, '"1"']]);
  assert.equal(item.reads(), 0, 'nothing is read for that');
});

test('other fields changed by somebody else are kept and named', async () => {
  const values = { ...began.values, tags: ['b'], section: 'sport' };
  const item = resource({ values, tag: '"2"' });
  assert.deepEqual(await store({ title: 'Two' }, began, item), { others: ['tags', 'section'] });
  assert.deepEqual(item.writes, [[{ title: 'Two' }, '"2"']]);
});

test('a change of the same field is a conflict, and nothing is written before a choice is made', async () => {
  const now = { values: { ...began.values, title: 'Theirs', section: 'sport' }, tag: '"2"' };
  const item = resource(now);
  const outcome = await store({ title: 'Mine', tags: ['b'] }, began, item);
  assert.deepEqual(outcome, { now, fields: ['title'] });
  assert.deepEqual(item.writes, []);
});

test('an identical change by somebody else is no conflict', async () => {
  const item = resource({ values: { ...began.values, title: 'Two' }, tag: '"2"' });
  assert.deepEqual(await store({ title: 'Two' }, began, item), { others: [] });
  assert.equal(item.writes.length, 1);
});

test('a resource without a tag is read before it is written', async () => {
  const untagged = { ...began, tag: null };
  const theirs = { ...began.values, title: 'Theirs' };
  const item = resource({ values: theirs, tag: '"2"' }, { hasTags: false });
  const outcome = await store({ title: 'Mine' }, untagged, item);
  assert.ok('fields' in outcome);
  assert.deepEqual(outcome.fields, ['title']);
  const calm = resource(began, { hasTags: false });
  assert.deepEqual(await store({ title: 'Mine' }, untagged, calm), { others: [] });
  assert.deepEqual(calm.writes, [[{ title: 'Mine' }, null]]);
});

test('a constantly changing resource is given up after four attempts, other failures immediately', async () => {
  const last = resource(began, { refusals: 3 });
  assert.deepEqual(await store({ title: 'Two' }, began, last), { others: [] });
  const restless = resource(began, { refusals: 4 });
  await assert.rejects(store({ title: 'Two' }, began, restless), { status: 412 });
  assert.equal(restless.reads(), 3);
  const broken = { ...resource(began), write: () => Promise.reject(failure(400)) };
  await assert.rejects(store({ title: 'Two' }, began, broken), { status: 400 });
  assert.equal(broken.reads(), 0);
});
